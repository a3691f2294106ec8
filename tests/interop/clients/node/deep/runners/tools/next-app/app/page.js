import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createElement } from "react";

export const dynamic = "force-dynamic";

/** Makes the calls as a server component: with the `fetch` that Next has made of Node's. */
export default async function Page() {
  // Next's compiler leaves this import to Node.
  const load = new Function("url", "return import(url)");
  const lib = (name) => load(pathToFileURL(join(process.cwd(), "../../lib", name)));
  const [{ run }, { endTool }, { toolCalls }] = await Promise.all(
    ["harness.mjs", "tool.mjs", "tool-calls.mjs"].map(lib),
  );
  await run(toolCalls());
  endTool();
  return createElement("p", null, "done");
}
