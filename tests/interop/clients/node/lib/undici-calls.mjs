import { PassThrough, Readable, Writable } from "node:stream";
import { fetchCalls, postForm } from "./fetch-calls.mjs";
import { HTTP, HTTPS, pieces, text } from "./harness.mjs";

const read = async ({ statusCode, headers, trailers, body }) => ({
  statusCode,
  headers,
  trailers,
  text: await body.text(),
});

/**
 * What undici has.
 * @param {any} undici
 * @param {number} version its major version
 */
export function undiciCalls(undici, version) {
  const { Agent, Client, EnvHttpProxyAgent, Pool, RetryAgent, fetch, interceptors, pipeline, request, stream } = undici;
  const get = (path, options) => request(HTTPS + path, options).then(read);
  const through = (dispatcher, path, options) =>
    get(path, { ...options, dispatcher }).finally(() => dispatcher.destroy());
  const composed = (interceptor, path, options) => through(new Agent().compose(interceptor), path, options);
  const collect = (chunks) =>
    new Writable({
      write(chunk, _, done) {
        chunks.push(chunk);
        done();
      },
    });
  return {
    ...named("fetch, ", { ...fetchCalls(fetch), "post multipart": postForm(fetch, undici.FormData) }),
    get: () => get("/json"),
    "get over http": () => request(`${HTTP}/json`).then(read),
    query: () => get("/echo", { query: { q: "a b" } }),
    "headers as a list": () => get("/echo", { headers: ["X-Case", "Kept", "x-two", "2"] }),
    "post text": () => get("/echo", { method: "POST", body: "grün" }),
    "put bytes": () => get("/echo", { method: "PUT", body: Buffer.from("bytes") }),
    patch: () => get("/echo", { method: "PATCH", body: "patched" }),
    delete: () => get("/echo", { method: "DELETE" }),
    head: () => get("/head", { method: "HEAD" }),
    gzip: () =>
      request(`${HTTPS}/gzip`).then(async ({ headers, body }) => [
        headers["content-encoding"],
        Buffer.from(await body.arrayBuffer()).subarray(0, 2),
      ]),
    cookies: () => get("/cookies"),
    "status 204 with a length": () => get("/length/204"),
    "status 304 with a length": () => get("/length/304"),
    hints: async () => {
      const told = [];
      const response = await get("/hints", {
        onInfo: ({ statusCode, headers }) => told.push(statusCode, headers.link),
      });
      return [told, response.text];
    },
    "body not read": async () => {
      const { statusCode, body } = await request(`${HTTPS}/text`);
      await body.dump();
      return statusCode;
    },
    "stream up": () => get("/echo", { method: "POST", body: Readable.from(pieces("one ", "two")) }),
    "finished stream up": () => {
      const body = new PassThrough();
      body.end("hello");
      return get("/echo", { method: "POST", body });
    },
    "generator up": () => get("/echo", { method: "POST", body: pieces("one ", "two") }),
    "form up": () => {
      const body = new undici.FormData();
      body.append("field", "value");
      return get("/echo", { method: "POST", body }).then(({ statusCode }) => statusCode);
    },
    stream: async () => {
      const chunks = [];
      await stream(`${HTTPS}/large/200000`, { method: "GET" }, () => collect(chunks));
      return Buffer.concat(chunks).length;
    },
    pipeline: () =>
      text(
        Readable.from(pieces("one ", "two")).pipe(pipeline(`${HTTPS}/echo`, { method: "POST" }, ({ body }) => body)),
      ),
    Agent: () => through(new Agent({ connections: 1, pipelining: 1 }), "/json"),
    Pool: () => of(new Pool(HTTPS)),
    Client: () => of(new Client(HTTPS)),
    "keep-alive": async () => {
      const dispatcher = new Agent({ connections: 1 });
      const results = [];
      for (const at of [1, 2, 3]) results.push((await get(`/echo?at=${at}`, { dispatcher })).text);
      await dispatcher.close();
      return results;
    },
    "proxy of the environment": () => through(new EnvHttpProxyAgent(), "/json"),
    RetryAgent: () => through(new RetryAgent(new Agent(), { minTimeout: 10, maxTimeout: 20 }), "/flaky/503/2"),
    "RetryAgent in vain": () =>
      through(new RetryAgent(new Agent(), { minTimeout: 10, maxTimeout: 20, maxRetries: 1 }), "/flaky/503/9"),
    "interceptor: retry": () => composed(interceptors.retry({ minTimeout: 10, maxTimeout: 20 }), "/flaky/503/2"),
    "interceptor: redirect": () =>
      composed(interceptors.redirect({ maxRedirections: 3 }), "/redirect/302?to=/redirect/301?to=/json"),
    "interceptor: redirect after post": () =>
      composed(interceptors.redirect({ maxRedirections: 3 }), "/redirect/307?to=/echo", {
        method: "POST",
        body: "kept",
      }),
    "interceptor: dump": () => composed(interceptors.dump({ maxSize: 100000 }), "/text"),
    "interceptor: dns": () => composed(interceptors.dns({ affinity: 4 }), "/json"),
    "interceptor: dns, fetch": async () => {
      const dispatcher = new Agent().compose(interceptors.dns({ affinity: 4 }));
      return (await fetch(`${HTTPS}/json`, { dispatcher })).json().finally(() => dispatcher.destroy());
    },
    ...(version > 6 && {
      "interceptor: responseError": () => composed(interceptors.responseError(), "/status/404"),
      "interceptor: cache": async () => {
        const dispatcher = new Agent().compose(interceptors.cache());
        const results = [await get("/etag", { dispatcher }), await get("/etag", { dispatcher })];
        await dispatcher.destroy();
        return results.map(({ statusCode, text }) => [statusCode, text]);
      },
    }),
    ...(interceptors.decompress && { "interceptor: decompress": () => composed(interceptors.decompress(), "/gzip") }),
    ...(version === 6 && { throwOnError: () => get("/status/404", { throwOnError: true }) }),
    // Long enough for a test that fetches first to have asked the server.
    "timeout of the head": () => get("/stall", { headersTimeout: 1000 }),
    "timeout of the head, of an Agent": () => through(new Agent({ headersTimeout: 1000 }), "/stall"),
    "timeout of the body": () => get("/unfinished", { bodyTimeout: 300 }),
    "cancelled while it waits": () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 200);
      return get("/stall", { signal: controller.signal });
    },
    "reset by the server": () => request(`${HTTP}/reset`).then(read),
    "cut by the server": () => get("/cut"),
    "unknown host": () => request("https://unknown.test/json").then(read),
    parallel: () =>
      Promise.all(Array.from({ length: 6 }, async (_, at) => JSON.parse((await get(`/echo?at=${at}`)).text).url)),
  };
}

/** One request of a dispatcher that has an origin. */
const of = async (dispatcher) => {
  const result = await dispatcher.request({ path: "/json", method: "GET" }).then(read);
  await dispatcher.close();
  return result;
};

const named = (prefix, calls) => Object.fromEntries(Object.entries(calls).map(([name, call]) => [prefix + name, call]));
