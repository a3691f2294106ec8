import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { REQUIRE, startFile } from "./child.mjs";

const APP = fileURLToPath(new URL("../deep/messages/app.cjs", import.meta.url));
const AMBIGUOUS = "ERR_TRAFFICMOCK_AMBIGUOUS_ROUTE";
const TOLD_MS = 20000;

/**
 * Send messages of each kind by one library, for several tests at once and for none, and see in whose context each is
 * handled.
 * @param {{ after(act: () => unknown): void }} t the test
 * @param {{ url: string }} proxy
 * @param {import('./owners.mjs').Owners} owners
 * @param {{ library: string, env: Record<string, string>, rounds: number, only?: string[] }} options with some kinds only
 * @returns {Promise<Record<string, string>>} by kind: `right`, `nobody's`, or the messages that were another test's
 */
export async function ownersOfMessages(t, proxy, owners, { library, env, rounds, only }) {
  const variables = {
    TRAFFICMOCK_PROXY_URL: proxy.url,
    TRAFFICMOCK_CONTEXT_MS: "300",
    NODE_OPTIONS: REQUIRE,
    LIBRARY: library,
    ...env,
  };
  const [worker, web] = ["worker", "web"].map((role) => {
    const started = startFile(APP, { ...variables, ROLE: role });
    t.after(async () => (await started).stop("SIGKILL"));
    return started;
  });
  await (await worker).next();
  const { kinds, port } = await (await web).next();
  const found = {};
  for (const kind of only ?? kinds) {
    // What a consumer gets that a request has started is told by the process of the request.
    const teller = await (kind.includes("first request") ? web : worker);
    const all = [];
    for (let round = 0; round < rounds; round += 1) {
      const names = [...owners.names, "none"];
      await Promise.all(names.map((who) => send(port, kind, who, owners)));
      for (let at = 0; at < names.length; at += 1) all.push(await told(teller, kind));
    }
    found[kind] = result(all);
  }
  return found;
}

async function send(port, kind, who, owners) {
  const headers = who === "none" ? {} : owners.headers(who);
  const response = await fetch(`http://127.0.0.1:${port}/${encodeURIComponent(kind)}/${who}`, { headers });
  assert.equal(await response.text(), "sent");
}

/** @returns {Promise<{ kind: string, who: string, said: string }>} what the handler of one message was answered */
async function told(teller, kind) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no message of ${kind}: ${JSON.stringify(teller.said())}`)), TOLD_MS);
  });
  const one = await Promise.race([teller.next(), late]).finally(() => clearTimeout(timer));
  assert.equal(one.kind, kind);
  return one;
}

/** @returns {string} */
function result(all) {
  const isNobodys = ({ said }) => said === AMBIGUOUS;
  const wrong = all.filter((one) => !isNobodys(one) && !one.said.startsWith(`${one.who} of `));
  if (wrong.length > 0) return JSON.stringify(wrong);
  return all.some((one) => isNobodys(one) && one.who !== "none") ? "nobody's" : "right";
}
