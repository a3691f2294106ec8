import axios from "axios";
import { Readable } from "node:stream";
import { HTTP, HTTPS, pieces, run, text } from "../lib/harness.mjs";

const seen = ({ status, statusText, headers, data }) => ({ status, statusText, headers: { ...headers }, data });
const get = (path, options) => axios.get(HTTPS + path, options).then(seen);
const refuse = (error) => {
  throw error;
};

await run({
  "get json": () => get("/json"),
  "get over http": () => axios.get(`${HTTP}/json`).then(seen),
  "get with query": () => get("/echo", { params: { q: "a b", list: [1, 2], none: undefined } }),
  "headers of its own": () => get("/echo", { headers: { "X-Case": "Kept", "x-list": "a, b", "User-Agent": "shop/1" } }),
  "basic auth": () => get("/login", { auth: { username: "me", password: "pass" } }),
  "post json": () => axios.post(`${HTTPS}/echo`, { a: 1, text: "grün" }).then(seen),
  "post form": () => axios.post(`${HTTPS}/echo`, new URLSearchParams({ a: "1", b: "ü" })).then(seen),
  "post multipart": () =>
    axios.postForm(`${HTTPS}/echo`, { field: "value", file: new Blob(["contents"]) }).then(({ status }) => status),
  "put bytes": () => axios.put(`${HTTPS}/echo`, Buffer.from("bytes")).then(seen),
  patch: () => axios.patch(`${HTTPS}/echo`, { b: 2 }).then(seen),
  delete: () => axios.delete(`${HTTPS}/echo`).then(seen),
  "delete with a body": () => axios.delete(`${HTTPS}/echo`, { data: { c: 3 } }).then(seen),
  head: () => axios.head(`${HTTPS}/head`).then(seen),
  options: () => axios.options(`${HTTPS}/echo`).then(seen),
  gzip: () => get("/gzip"),
  "gzip in chunks": () => get("/gzip?chunked"),
  brotli: () => get("/br"),
  "gzip left alone": () =>
    get("/gzip", { decompress: false, responseType: "arraybuffer" }).then(({ headers, data }) => [
      headers["content-encoding"],
      data.subarray(0, 2),
    ]),
  chunked: () => get("/chunked"),
  cookies: () => get("/cookies"),
  "repeated headers": () => get("/text"),
  "status 204": () => get("/status/204"),
  "304 with a length": () => get("/length/304", { validateStatus: () => true }),
  "status 404": () => get("/status/404"),
  "500 that is no error": () => get("/status/500", { validateStatus: () => true }),
  redirects: () => get("/redirect/302?to=/redirect/301?to=/json"),
  "303 after post": () => axios.post(`${HTTPS}/redirect/303?to=/echo`, { a: 1 }).then(seen),
  "307 after post": () => axios.post(`${HTTPS}/redirect/307?to=/echo`, { a: 1 }).then(seen),
  "redirect to http": () => get(`/redirect/302?to=${HTTP}/json`),
  "no redirects": () => get("/redirect/302", { maxRedirects: 0 }),
  "too many redirects": () => get("/redirect/302?to=/redirect/302?to=/json", { maxRedirects: 1 }),
  "stream down": () =>
    get("/large/300000", { responseType: "stream" }).then(async ({ data }) => (await text(data)).length),
  arraybuffer: () => get("/large/5000", { responseType: "arraybuffer" }).then(({ data }) => data.length),
  "large body down": () => get("/large/3000000", { responseType: "text" }).then(({ data }) => data.length),
  "large body up": () => axios.post(`${HTTPS}/echo`, "x".repeat(3000000), { maxBodyLength: Infinity }).then(seen),
  "stream up": () =>
    axios
      .post(`${HTTPS}/echo`, Readable.from(pieces("one ", "two ", "three")), {
        headers: { "content-type": "text/plain" },
      })
      .then(seen),
  "stream up without redirects": () =>
    axios
      .post(`${HTTPS}/echo`, Readable.from(pieces("one ", "two ")), {
        maxRedirects: 0,
        headers: { "content-type": "text/plain" },
      })
      .then(seen),
  "too large an answer": () => get("/large/5000", { maxContentLength: 1000 }),
  "cancelled at once": () => get("/json", { signal: AbortSignal.abort() }),
  "cancelled while it waits": () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    return get("/stall", { signal: controller.signal });
  },
  timeout: () => get("/stall", { timeout: 300 }),
  "timeout without redirects": () => get("/stall", { timeout: 300, maxRedirects: 0 }),
  "reset by the server": () => axios.get(`${HTTP}/reset`),
  "cut by the server": () => get("/cut"),
  "unknown host": () => axios.get("https://unknown.test/json").then(seen),
  interceptors: async () => {
    const client = axios.create({ baseURL: HTTPS, headers: { common: { "x-client": "mine" } } });
    client.interceptors.request.use((config) => {
      config.headers.set("x-request", "yes");
      return config;
    });
    client.interceptors.response.use((response) => ({ ...response, statusText: `${response.statusText}!` }), refuse);
    return seen(await client.get("/json"));
  },
  progress: async () => {
    let loaded = 0;
    await get("/large/200000", {
      responseType: "text",
      onDownloadProgress: (event) => {
        loaded = event.loaded;
      },
    });
    return loaded;
  },
  parallel: () => Promise.all(Array.from({ length: 6 }, (_, at) => get(`/echo?at=${at}`).then(({ data }) => data.url))),
  "fetch adapter": () => get("/json", { adapter: "fetch" }),
  "fetch adapter, post": () => axios.post(`${HTTPS}/echo`, { a: 1 }, { adapter: "fetch" }).then(seen),
  "fetch adapter, 404": () => get("/status/404", { adapter: "fetch" }),
  "fetch adapter, timeout": () => get("/stall", { adapter: "fetch", timeout: 300 }),
});
