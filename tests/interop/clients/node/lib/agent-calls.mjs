import https from "node:https";
import { once, text } from "./harness.mjs";

/**
 * Calls of `node:https` with an agent, and what arrives of them.
 * @param {Awaited<ReturnType<import("./raw-servers.mjs").startRawServers>>} raw
 */
export function agentCalls(raw) {
  const host = "api.shop.test";
  const port = Number(new URL(raw.https).port);
  const headers = { authorization: "Bearer SECRET" };
  const answered = async (req) => {
    const response = await once(req, "response");
    return [response.statusCode, await text(response)];
  };
  const forms = {
    "a URL": (agent) => answered(https.get(`${raw.https}/x`, { agent, headers })),
    options: (agent) => answered(https.get({ host, port, path: "/x", agent, headers })),
    "a stream": (agent) => {
      const req = https.request({ host, port, path: "/x", agent, headers, method: "POST" });
      req.write("one");
      setImmediate(() => req.end("two"));
      return answered(req);
    },
  };
  /** Give the result of each call, and the bytes that arrived. */
  const withBytes = (calls) =>
    Object.fromEntries(
      Object.entries(calls).map(([name, call]) => [
        name,
        async () => {
          raw.take();
          const result = await call().catch((error) => [error.code, error.message]);
          return { result, bytes: raw.take() };
        },
      ]),
    );
  return { answered, forms, headers, withBytes };
}
