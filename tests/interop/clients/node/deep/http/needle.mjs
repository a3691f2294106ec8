import https from "node:https";
import needle from "needle";
import { HTTP, HTTPS, run, text } from "../../lib/harness.mjs";

const seen = ({ statusCode, statusMessage, headers, body, cookies }) => ({
  statusCode,
  statusMessage,
  headers,
  body,
  cookies,
});
const get = (path, options) => needle("get", HTTPS + path, options).then(seen);
const send = (method, body, options) => needle(method, `${HTTPS}/echo`, body, options).then(seen);

await run({
  "get json": () => get("/json"),
  "get over http": () => needle("get", `${HTTP}/json`).then(seen),
  "get with query": () => needle("get", `${HTTPS}/echo`, { q: "a b" }).then(seen),
  "headers of its own": () => get("/echo", { headers: { "X-Case": "Kept" } }),
  "basic auth": () => get("/login", { username: "me", password: "pass" }),
  "post json": () => send("post", { a: 1 }, { json: true }),
  "post form": () => send("post", { a: 1, b: "ü" }),
  "post multipart": () =>
    send(
      "post",
      { field: "value", file: { buffer: Buffer.from("contents"), filename: "name.txt", content_type: "text/plain" } },
      { multipart: true },
    ),
  put: () => send("put", "put"),
  patch: () => send("patch", "patched"),
  delete: () => send("delete", null),
  head: () => needle("head", `${HTTPS}/head`).then(seen),
  gzip: () => get("/gzip", { compressed: true }),
  chunked: () => get("/chunked"),
  cookies: () => get("/cookies", { parse_cookies: true }),
  "status 204": () => get("/status/204"),
  "status 404": () => get("/status/404"),
  redirects: () => get("/redirect/302?to=/redirect/301?to=/json", { follow_max: 3 }),
  "redirect not followed": () => get("/redirect/302"),
  "307 after post": () =>
    needle("post", `${HTTPS}/redirect/307?to=/echo`, "kept", { follow_max: 2, follow_keep_method: true }).then(seen),
  "stream down": () => text(needle.get(`${HTTPS}/large/200000`)).then(({ length }) => length),
  "large body up": () => send("post", "x".repeat(1000000)),
  "timeout of the response": () => get("/stall", { response_timeout: 300 }),
  "timeout of the read": () => get("/unfinished", { read_timeout: 300 }),
  "reset by the server": () => needle("get", `${HTTP}/reset`).then(seen),
  "unknown host": () => needle("get", "https://unknown.test/json").then(seen),
  "an agent that keeps connections": async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const results = [];
    for (const at of [1, 2, 3]) results.push((await get(`/echo?at=${at}`, { agent })).statusCode);
    agent.destroy();
    return results;
  },
  parallel: () => Promise.all([1, 2, 3, 4].map((at) => get(`/echo?at=${at}`))),
});
