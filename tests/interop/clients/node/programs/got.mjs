import got from "got";
import https from "node:https";
import { Readable } from "node:stream";
import { HTTP, HTTPS, pieces, run, text } from "../lib/harness.mjs";

const seen = ({ statusCode, statusMessage, headers, body, url, redirectUrls, retryCount, httpVersion }) => ({
  statusCode,
  statusMessage,
  headers,
  body,
  url,
  redirectUrls: redirectUrls.map(String),
  retryCount,
  httpVersion,
});
const once = got.extend({ prefixUrl: HTTPS, retry: { limit: 0 } });
const get = (path, options) => once(path, options).then(seen);

await run({
  "get json": () => once("json").json(),
  "get over http": () => got(`${HTTP}/json`).then(seen),
  "get with query": () => get("echo", { searchParams: { q: "a b", c: 1 } }),
  "headers of its own": () => get("echo", { headers: { "X-Case": "Kept", "user-agent": "shop/1" } }),
  "basic auth": () => get("login", { username: "me", password: "pass" }),
  "post json": () => once.post("echo", { json: { a: 1, text: "grün" } }).then(seen),
  "post form": () => once.post("echo", { form: { a: 1 } }).then(seen),
  "post multipart": () => {
    const form = new FormData();
    form.append("field", "value");
    return once.post("echo", { body: form }).json();
  },
  "put bytes": () => once.put("echo", { body: Buffer.from("bytes") }).then(seen),
  patch: () => once.patch("echo", { body: "patched" }).then(seen),
  delete: () => once.delete("echo").then(seen),
  head: () => once.head("head").then(seen),
  gzip: () => get("gzip"),
  brotli: () => get("br"),
  "gzip left alone": () =>
    get("gzip", { decompress: false, responseType: "buffer" }).then(({ headers, body }) => [
      headers["content-encoding"],
      body.subarray(0, 2),
    ]),
  chunked: () => get("chunked"),
  cookies: () => get("cookies"),
  "repeated headers": () => get("text"),
  "status 204": () => get("status/204"),
  "status 304 with a length": () => get("length/304"),
  "status 404": () => get("status/404"),
  "status 500 that is no error": () => get("status/500", { throwHttpErrors: false }),
  redirects: () => get("redirect/302?to=/redirect/301?to=/json"),
  "303 after post": () => once.post("redirect/303?to=/echo", { body: "gone" }).then(seen),
  "307 after post": () => once.post("redirect/307?to=/echo", { body: "kept" }).then(seen),
  "redirect not followed": () => get("redirect/302", { followRedirect: false }),
  "too many redirects": () => get("redirect/302?to=/redirect/302?to=/json", { maxRedirects: 1 }),
  retry: () => once("flaky/503/2", { retry: { limit: 2, backoffLimit: 20 } }).then(seen),
  "retry in vain": () => once("flaky/503/9", { retry: { limit: 1, backoffLimit: 20 } }).then(seen),
  "stream down": () => text(once.stream("large/200000")).then(({ length }) => length),
  "stream up": () => text(Readable.from(pieces("one ", "two")).pipe(once.stream.post("echo"))),
  "large body down": () => get("large/3000000").then(({ body }) => body.length),
  "large body up": () => once.post("echo", { body: "x".repeat(3000000) }).then(seen),
  "cancelled while it waits": () => get("stall", { signal: AbortSignal.timeout(200) }),
  timeout: () => get("stall", { timeout: { request: 300 } }),
  "timeout of the response": () => get("stall", { timeout: { response: 300 } }),
  "timeout of the socket": () => get("stall", { timeout: { socket: 300 } }),
  "reset by the server": () => got(`${HTTP}/reset`, { retry: { limit: 0 } }).then(seen),
  "cut by the server": () => get("cut"),
  "unknown host": () => got("https://unknown.test/json", { retry: { limit: 0 } }).then(seen),
  "an agent that keeps connections": async () => {
    const agent = { https: new https.Agent({ keepAlive: true, maxSockets: 1 }) };
    const results = [];
    for (const at of [1, 2, 3]) results.push((await once(`echo?at=${at}`, { agent }).json()).url);
    agent.https.destroy();
    return results;
  },
  hooks: () =>
    get("echo", {
      hooks: {
        beforeRequest: [
          (options) => {
            options.headers["x-hook"] = "yes";
          },
        ],
        afterResponse: [(response) => ({ ...response, body: "hooked" })],
      },
    }).then(({ body }) => body),
  "events of its request": () =>
    new Promise((resolve, reject) => {
      const events = [];
      const stream = once.stream("json");
      for (const name of ["request", "response", "redirect"]) stream.on(name, () => events.push(name));
      stream
        .on("error", reject)
        .on("end", () => resolve(events))
        .resume();
    }),
  pagination: () =>
    once.paginate.all("json", {
      pagination: {
        countLimit: 4,
        transform: ({ body }) => JSON.parse(body).list,
        paginate: ({ response }) => response.url.endsWith("json") && { url: new URL(`${HTTPS}/json?2`) },
      },
    }),
  "phases of its time": async () => {
    const { timings } = await once("json");
    // Whether a request is known to be sent before its answer begins, its phase `request`, depends on the time.
    return Object.keys(timings.phases).filter((name) => name !== "request" && timings.phases[name] !== undefined);
  },
  parallel: () => Promise.all(Array.from({ length: 6 }, async (_, at) => (await once(`echo?at=${at}`).json()).url)),
});
