import { HTTP, HTTPS } from "./harness.mjs";

/**
 * What every `fetch` can do.
 * @param {(url: string, options?: object) => Promise<any>} fetch
 * @returns {Record<string, () => Promise<unknown>>}
 */
export function fetchCalls(fetch) {
  const read = async (response) => ({ ...head(response), text: await response.text() });
  const get = (path, options) => fetch(HTTPS + path, options).then(read);
  const send = (method, body, headers) => get("/echo", { method, body, headers });
  return {
    "get json": async () => (await fetch(`${HTTPS}/json`)).json(),
    "get over http": () => fetch(`${HTTP}/json`).then(read),
    "get with query": () => get("/echo?q=a%20b&c"),
    "headers of its own": () =>
      get("/echo", { headers: { "X-Case": "Kept", "x-list": "a, b", "User-Agent": "shop/1" } }),
    authorized: () => get("/login", { headers: { authorization: "Basic bWU6cGFzcw==" } }),
    "not authorized": () => get("/login"),
    "post text": () => send("POST", "grün"),
    "post json": () => send("POST", JSON.stringify({ a: 1 }), { "content-type": "application/json" }),
    "post form": () => send("POST", new URLSearchParams({ a: "1", b: "ü" })),
    "put bytes": () => send("PUT", Buffer.from("bytes")),
    patch: () => send("PATCH", "patched"),
    delete: () => send("DELETE"),
    head: () => get("/head", { method: "HEAD" }),
    options: () => get("/echo", { method: "OPTIONS" }),
    gzip: () => get("/gzip"),
    "gzip in chunks": () => get("/gzip?chunked"),
    brotli: () => get("/br"),
    deflate: () => get("/deflate"),
    chunked: () => get("/chunked"),
    cookies: () => get("/cookies"),
    "repeated headers": () => get("/text"),
    "status 204": () => get("/status/204"),
    "status 204 with a length": () => get("/length/204"),
    "status 304 with a length": () => get("/length/304"),
    "status 404": () => get("/status/404"),
    "status 500": () => get("/status/500"),
    redirects: () => get("/redirect/302?to=/redirect/301?to=/json"),
    "303 after post": () => get("/redirect/303?to=/echo", { method: "POST", body: "gone" }),
    "307 after post": () => get("/redirect/307?to=/echo", { method: "POST", body: "kept" }),
    "redirect with headers": () => get("/redirect/302?to=/echo", { headers: { "x-kept": "yes" } }),
    "redirect to another host": () =>
      get("/redirect/302?to=https://other.test/echo", { headers: { authorization: "secret", "x-kept": "yes" } }),
    "redirect not followed": () => get("/redirect/302", { redirect: "manual" }),
    "redirect that is an error": () => get("/redirect/302", { redirect: "error" }),
    "large body down": async () => (await (await fetch(`${HTTPS}/large/3000000`)).text()).length,
    "large body up": () => send("POST", "x".repeat(3000000)),
    "body not read": async () => head(await fetch(`${HTTPS}/json`)),
    "cancelled at once": () => get("/json", { signal: AbortSignal.abort() }),
    "cancelled while it waits": () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 200);
      return get("/stall", { signal: controller.signal });
    },
    "cancelled while it reads": async () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 400);
      return (await fetch(`${HTTPS}/unfinished`, { signal: controller.signal })).text();
    },
    timeout: () => get("/stall", { signal: AbortSignal.timeout(300) }),
    "reset by the server": () => fetch(`${HTTP}/reset`).then(read),
    "cut by the server": () => get("/cut"),
    "unknown host": () => fetch("https://unknown.test/json").then(read),
    parallel: () =>
      Promise.all(
        Array.from({ length: 6 }, async (_, at) => (await (await fetch(`${HTTPS}/echo?at=${at}`)).json()).url),
      ),
  };
}

/** A multipart form as the platform has it. */
export const postForm = (fetch, FormData) => async () => {
  const form = new FormData();
  form.append("field", "value");
  form.append("file", new Blob(["contents"], { type: "text/plain" }), "name.txt");
  return (await fetch(`${HTTPS}/echo`, { method: "POST", body: form })).json();
};

/** The head of a response, as applications look at it. */
export const head = ({ status, statusText, url, redirected, type, headers }) => ({
  status,
  statusText,
  url,
  redirected,
  type,
  headers: [...headers],
});
