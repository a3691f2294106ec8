import { revalidateTag, unstable_cache } from "next/cache";

const CACHED = {
  "force-cache": { cache: "force-cache" },
  revalidate: { next: { revalidate: 600, tags: ["price"] } },
};

/** Asks for what Next keeps: `way` is how. */
export async function GET(request) {
  const { way, key } = Object.fromEntries(new URL(request.url).searchParams);
  const url = `${process.env.UPSTREAM}/passed?${way}=${key}`;
  const ask = async (init) => (await fetch(url, init)).text();
  if (way === "unstable_cache") return new Response(await unstable_cache(() => ask({ cache: "no-store" }), [key])());
  return new Response(await ask(CACHED[way]));
}

export async function DELETE() {
  revalidateTag("price", { expire: 0 });
  return new Response();
}
