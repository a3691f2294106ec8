export const dynamic = "force-dynamic";

const ask = async (path) => (await fetch(`http://nowhere.test${path}`, { cache: "no-store" })).text();

async function act() {
  "use server";
  console.log(`action: ${await ask("/action")}`);
}

export default async function Page() {
  return (
    <form action={act}>
      <p>{await ask("/component")}</p>
      <button>go</button>
    </form>
  );
}
