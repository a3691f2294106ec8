import ky from "ky";
import { head } from "../../lib/fetch-calls.mjs";
import { HTTP, HTTPS, run } from "../../lib/harness.mjs";

const api = ky.create({ prefixUrl: HTTPS, retry: 0 });
const read = async (response) => ({ ...head(response), text: await response.text() });

await run({
  "get json": () => api.get("json").json(),
  "get over http": () => ky(`${HTTP}/json`).json(),
  "get with query": () => api.get("echo", { searchParams: { q: "a b" } }).json(),
  "post json": () => api.post("echo", { json: { a: 1 } }).json(),
  "put, patch, delete": async () => [
    await api.put("echo", { body: "put" }).json(),
    await api.patch("echo", { body: "patch" }).json(),
    await api.delete("echo").json(),
  ],
  head: async () => read(await api.head("head")),
  gzip: async () => read(await api("gzip")),
  chunked: () => api("chunked").text(),
  "status 404": async () => read(await api("status/404")),
  "status 418 that is no error": async () => read(await api("status/418", { throwHttpErrors: false })),
  redirects: async () => read(await api("redirect/302?to=/json")),
  retry: async () => read(await api("flaky/503/2", { retry: { limit: 2, delay: () => 10 } })),
  "retry in vain": async () => read(await api("flaky/503/9", { retry: { limit: 1, delay: () => 10 } })),
  timeout: () => api("stall", { timeout: 300 }).text(),
  "cancelled while it waits": () => api("stall", { signal: AbortSignal.timeout(200) }).text(),
  hooks: () =>
    api("echo", {
      hooks: {
        beforeRequest: [(request) => request.headers.set("x-hook", "yes")],
        afterResponse: [async (_, __, response) => new Response(`hooked ${response.status}`)],
      },
    }).text(),
  progress: async () => {
    let percent = 0;
    await api("large/200000", {
      onDownloadProgress: (progress) => {
        percent = progress.percent;
      },
    }).text();
    return percent;
  },
  "reset by the server": () => ky(`${HTTP}/reset`, { retry: 0 }).text(),
  "unknown host": () => ky("https://unknown.test/json", { retry: 0 }).text(),
  parallel: () => Promise.all([1, 2, 3, 4].map((at) => api(`echo?at=${at}`).json())),
});
