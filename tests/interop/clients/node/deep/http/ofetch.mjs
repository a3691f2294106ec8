import { ofetch } from "ofetch";
import { head } from "../../lib/fetch-calls.mjs";
import { HTTP, HTTPS, run } from "../../lib/harness.mjs";

const api = ofetch.create({ baseURL: HTTPS, retry: 0 });

await run({
  "get json": () => api("/json"),
  "get over http": () => ofetch(`${HTTP}/json`),
  "get with query": () => api("/echo", { query: { q: "a b" } }),
  "post json": () => api("/echo", { method: "POST", body: { a: 1 } }),
  "put, patch, delete": async () => [
    await api("/echo", { method: "PUT", body: "put" }),
    await api("/echo", { method: "PATCH", body: "patch" }),
    await api("/echo", { method: "DELETE" }),
  ],
  raw: async () => head(await api.raw("/text")),
  gzip: () => api("/gzip"),
  stream: async () => {
    let text = "";
    for await (const chunk of await api("/chunked", { responseType: "stream" })) text += Buffer.from(chunk);
    return text;
  },
  "status 404": () => api("/status/404"),
  redirects: () => api("/redirect/302?to=/json"),
  retry: () => api("/flaky/503/2", { retry: 2, retryDelay: 10 }),
  "retry in vain": () => api("/flaky/503/9", { retry: 1, retryDelay: 10 }),
  timeout: () => api("/stall", { timeout: 300 }),
  "reset by the server": () => ofetch(`${HTTP}/reset`, { retry: 0 }),
  "unknown host": () => ofetch("https://unknown.test/json", { retry: 0 }),
  hooks: () =>
    api("/echo", {
      onRequest: ({ options }) => {
        options.headers.set("x-hook", "yes");
      },
      onResponse: ({ response }) => {
        response._data = "hooked";
      },
    }),
});
