export async function GET(request) {
  const key = new URL(request.url).searchParams.get("key");
  const r = await fetch(`http://nowhere.test/cached?key=${key}`, { cache: "force-cache" });
  return new Response(await r.text());
}
