import { Suspense } from "react";
import { after } from "next/server";
import { ask } from "../../ask.js";

export const dynamic = "force-dynamic";

export async function generateMetadata({ searchParams }) {
  const { who } = await searchParams;
  return { title: await ask("metadata", who) };
}

async function Late({ who }) {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return <p>{await ask("suspense", who)}</p>;
}

export default async function Page({ searchParams }) {
  const { who } = await searchParams;
  after(() => ask("after-page", who));
  const both = await Promise.all([ask("parallel-1", who), ask("parallel-2", who)]);
  return (
    <main>
      <p>{await ask("component", who)}</p>
      <p>{both.join()}</p>
      <Suspense fallback="…">
        <Late who={who} />
      </Suspense>
    </main>
  );
}
