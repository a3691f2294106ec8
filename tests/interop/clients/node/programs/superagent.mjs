import https from "node:https";
import { Readable } from "node:stream";
import superagent from "superagent";
import { HTTP, HTTPS, pieces, run } from "../lib/harness.mjs";

const seen = ({ status, headers, body, text, type, redirects }) => ({ status, headers, body, text, type, redirects });
const get = (path) => superagent.get(HTTPS + path);

await run({
  "get json": async () => seen(await get("/json")),
  "get over http": async () => seen(await superagent.get(`${HTTP}/json`)),
  "get with query": async () => seen(await get("/echo").query({ q: "a b" })),
  "headers of its own": async () => seen(await get("/echo").set("X-Case", "Kept")),
  "basic auth": async () => seen(await get("/login").auth("me", "pass")),
  "post json": async () => seen(await superagent.post(`${HTTPS}/echo`).send({ a: 1, text: "grün" })),
  "post form": async () => seen(await superagent.post(`${HTTPS}/echo`).type("form").send({ a: 1 })),
  "post multipart": async () =>
    (await superagent.post(`${HTTPS}/echo`).field("field", "value").attach("file", Buffer.from("contents"), "name.txt"))
      .body,
  put: async () => seen(await superagent.put(`${HTTPS}/echo`).send("put")),
  patch: async () => seen(await superagent.patch(`${HTTPS}/echo`).send({ b: 2 })),
  delete: async () => seen(await superagent.delete(`${HTTPS}/echo`)),
  head: async () => seen(await superagent.head(`${HTTPS}/head`)),
  gzip: async () => seen(await get("/gzip")),
  brotli: async () => seen(await get("/br")),
  chunked: async () => seen(await get("/chunked")),
  cookies: async () => seen(await get("/cookies")),
  "an agent that keeps cookies": async () => {
    const agent = superagent.agent();
    await agent.get(`${HTTPS}/cookies`);
    return seen(await agent.get(`${HTTPS}/echo`));
  },
  "status 204": async () => seen(await get("/status/204")),
  "status 404": async () => seen(await get("/status/404")),
  "status 500 that is no error": async () => seen(await get("/status/500").ok(() => true)),
  redirects: async () => seen(await get("/redirect/302?to=/redirect/301?to=/json")),
  "303 after post": async () => seen(await superagent.post(`${HTTPS}/redirect/303?to=/echo`).send("gone")),
  "307 after post": async () => seen(await superagent.post(`${HTTPS}/redirect/307?to=/echo`).send("kept")),
  "redirect not followed": async () => seen(await get("/redirect/302").redirects(0)),
  retry: async () => seen(await get("/flaky/503/2").retry(2)),
  "retry in vain": async () => seen(await get("/flaky/503/9").retry(1)),
  bytes: async () =>
    (await get("/large/5000").buffer(true).parse(superagent.parse["application/octet-stream"])).body.length,
  "stream up": () =>
    new Promise((resolve, reject) => {
      const request = superagent.post(`${HTTPS}/echo`).type("text/plain");
      request.on("response", ({ body }) => resolve(body)).on("error", reject);
      Readable.from(pieces("one ", "two")).pipe(request);
    }),
  "large body down": async () => (await get("/large/3000000").responseType("blob")).body.length,
  "large body up": async () =>
    seen(await superagent.post(`${HTTPS}/echo`).type("text/plain").send("x".repeat(3000000))),
  "cancelled while it waits": () =>
    new Promise((resolve, reject) => {
      const request = get("/stall");
      request.on("abort", () => resolve("aborted")).on("error", reject);
      request.end(() => {});
      setTimeout(() => request.abort(), 200);
    }),
  "timeout of the response": async () => seen(await get("/stall").timeout({ response: 300 })),
  "timeout of it all": async () => seen(await get("/stall").timeout({ deadline: 300 })),
  "reset by the server": async () => seen(await superagent.get(`${HTTP}/reset`)),
  "cut by the server": async () => seen(await get("/cut")),
  "unknown host": async () => seen(await superagent.get("https://unknown.test/json")),
  "an agent that keeps connections": async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const results = [];
    for (const at of [1, 2, 3]) results.push((await get(`/echo?at=${at}`).agent(agent)).body.url);
    agent.destroy();
    return results;
  },
  callback: () =>
    new Promise((resolve, reject) =>
      get("/json").end((error, response) => (error ? reject(error) : resolve(seen(response)))),
    ),
  parallel: () => Promise.all(Array.from({ length: 6 }, async (_, at) => (await get(`/echo?at=${at}`)).body.url)),
});
