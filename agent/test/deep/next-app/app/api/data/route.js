export async function GET() {
  const r = await fetch("http://nowhere.test/handler", { cache: "no-store" });
  return new Response(await r.text());
}
