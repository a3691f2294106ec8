import { ask } from "../../ask.js";

export const dynamic = "force-dynamic";

async function act(data) {
  "use server";
  await ask("action", data.get("who"));
}

export default function Page() {
  return (
    <form action={act}>
      <input name="who" />
      <button>go</button>
    </form>
  );
}
