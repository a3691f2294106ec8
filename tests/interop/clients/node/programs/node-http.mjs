import http from "node:http";
import https from "node:https";
import { Worker } from "node:worker_threads";
import { HTTP, HTTPS, once, run, text } from "../lib/harness.mjs";

const read = async (response) => ({
  status: response.statusCode,
  headers: Object.entries(response.headers),
  text: await text(response),
});

/** Make a request that waits for the word to go on before it sends its body. */
async function expecting(module, base, headers) {
  const req = module.request(`${base}/echo`, { method: "POST", headers: { Expect: "100-continue", ...headers } });
  req.once("continue", () => req.end("body")).flushHeaders();
  return read(await once(req, "response"));
}

/** Run code in a thread of its own, and give what it posts. */
async function inThread(code) {
  const worker = new Worker(`const { parentPort } = require("node:worker_threads"); ${code}`, { eval: true });
  // Both at once: a thread that ends with its message has them after each other, with no turn between.
  const [said] = await Promise.all([once(worker, "message"), once(worker, "exit")]);
  return said;
}

await run({
  get: async () => read(await once(https.get(`${HTTPS}/json`), "response")),
  "get over http": async () => read(await once(http.get(`${HTTP}/json`), "response")),
  "expect 100-continue": () => expecting(http, HTTP, {}),
  "expect 100-continue over https": () => expecting(https, HTTPS, {}),
  "expect 100-continue, with a length": () => expecting(https, HTTPS, { "Content-Length": "4" }),
  "fetch in a thread": () =>
    inThread(
      `fetch("${HTTPS}/json").then((r) => r.text()).then((t) => parentPort.postMessage(t), (e) => parentPort.postMessage(e.cause.code))`,
    ),
  "request in a thread": () =>
    inThread(
      `require("node:https").get("${HTTPS}/json", (r) => r.on("data", (data) => parentPort.postMessage(String(data)))).on("error", (e) => parentPort.postMessage(e.code))`,
    ),
});
