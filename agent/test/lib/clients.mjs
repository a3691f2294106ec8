import http from "node:http";
import https from "node:https";
import { Readable } from "node:stream";

/** In the order of the table. */
export const CLIENTS = [
  "fetch",
  "node:http",
  ...[6, 7, 8].flatMap((version) => ["fetch", "request", "Agent"].map((what) => `undici${version} ${what}`)),
  "undici6 maxRedirections",
  "axios",
  "got",
  "node-fetch",
  "superagent",
  "AWS SDK",
];

/** undici 8 needs Node 22. */
export const hasUndici = (name) => !name.startsWith("undici8") || Number(process.versions.node.split(".")[0]) >= 22;

/** @returns {Promise<Record<string, any>>} the versions of undici that this Node runs, by their names */
export async function everyUndici() {
  const versions = {};
  for (const name of ["undici6", "undici7", "undici8"].filter(hasUndici)) versions[name] = await import(name);
  return versions;
}

/**
 * Every HTTP client library, behind one call:
 * `send(url, { method, headers, body, signal, redirect })` gives
 * `{ status, statusText, cookies, header(name), body, stream }`, or rejects.
 *
 * @param {(name: string) => Promise<any>} load by `import` or by `require`
 */
export async function loadClients(load) {
  const clients = { fetch: ofFetch((...args) => globalThis.fetch(...args)), "node:http": ofNodeHttp };
  for (const version of ["undici6", "undici7", "undici8"]) {
    if (!hasUndici(version)) continue;
    const undici = await load(version);
    const agent = new undici.Agent({ keepAliveTimeout: 100 });
    clients[`${version} fetch`] = ofFetch(undici.fetch);
    clients[`${version} request`] = ofUndici(undici, undefined);
    clients[`${version} Agent`] = ofUndici(undici, agent);
    if (version === "undici6") clients["undici6 maxRedirections"] = ofMaxRedirections(undici);
  }
  clients.axios = ofAxios((await load("axios")).default);
  clients.got = ofGot((await import("got")).default);
  clients["node-fetch"] = ofFetch((await import("node-fetch")).default);
  clients.superagent = ofSuperagent((await load("superagent")).default);
  clients["AWS SDK"] = ofAws((await load("@aws-sdk/client-s3")).default);
  return clients;
}

const ofFetch =
  (fetch) =>
  async (url, options = {}) => {
    const response = await fetch(url, { ...options, redirect: options.redirect ? "follow" : "manual" });
    return {
      status: response.status,
      statusText: response.statusText,
      cookies: response.headers.getSetCookie?.() ?? response.headers.raw()["set-cookie"] ?? [],
      header: (name) => response.headers.get(name),
      stream: () => (response.body instanceof Readable ? response.body : Readable.fromWeb(response.body)),
      read: async () => Buffer.from(await response.arrayBuffer()),
    };
  };

const ofUndici =
  ({ request, interceptors, Agent }, agent) =>
  async (url, { method = "GET", headers, body, signal, redirect } = {}) => {
    const base = agent ?? new Agent();
    const dispatcher = redirect ? base.compose(interceptors.redirect({ maxRedirections: 5 })) : agent;
    return answered(await request(url, { method, headers, body, signal, ...(dispatcher && { dispatcher }) }));
  };

/** Redirects as undici had them up to version 6. */
const ofMaxRedirections =
  ({ request }) =>
  async (url, { redirect, ...options } = {}) => {
    return answered(await request(url, { ...options, maxRedirections: redirect ? 5 : 0 }));
  };

function answered(response) {
  return {
    status: response.statusCode,
    statusText: response.statusText,
    cookies: [response.headers["set-cookie"] ?? []].flat(),
    header: (name) => response.headers[name] ?? null,
    stream: () => response.body,
    coded: true,
    read: async () => Buffer.from(await response.body.arrayBuffer()),
  };
}

const ofNodeHttp = (url, { method = "GET", headers, body, signal } = {}) =>
  new Promise((resolve, reject) => {
    const request = (url.startsWith("https") ? https : http).request(url, { method, headers, signal });
    request.on("error", reject);
    request.on("response", (response) =>
      resolve({
        status: response.statusCode,
        statusText: response.statusMessage,
        cookies: response.headers["set-cookie"] ?? [],
        header: (name) => response.headers[name] ?? null,
        stream: () => response,
        coded: true,
        read: async () => Buffer.concat(await response.toArray()),
      }),
    );
    request.end(body);
  });

const ofAxios =
  (axios) =>
  async (url, { method = "GET", headers, body, signal, redirect } = {}) => {
    const response = await axios.request({
      url,
      method,
      headers,
      data: body,
      signal,
      maxRedirects: redirect ? 5 : 0,
      responseType: "stream",
      validateStatus: () => true,
      proxy: false,
      adapter: "http",
    });
    return {
      status: response.status,
      statusText: response.statusText,
      cookies: response.headers["set-cookie"] ?? [],
      header: (name) => response.headers[name] ?? null,
      stream: () => response.data,
      read: async () => Buffer.concat(await response.data.toArray()),
    };
  };

const ofGot =
  (got) =>
  (url, { method = "GET", headers, body, signal, redirect } = {}) =>
    new Promise((resolve, reject) => {
      const stream = got.stream(url, {
        method,
        headers,
        body,
        signal,
        followRedirect: Boolean(redirect),
        throwHttpErrors: false,
        retry: { limit: 0 },
      });
      stream.on("error", reject);
      stream.on("response", (response) =>
        resolve({
          status: response.statusCode,
          statusText: response.statusMessage,
          cookies: response.headers["set-cookie"] ?? [],
          header: (name) => response.headers[name] ?? null,
          stream: () => stream,
          read: async () => Buffer.concat(await stream.toArray()),
        }),
      );
      if (!body && !["GET", "HEAD"].includes(method)) stream.end();
    });

const ofSuperagent =
  (superagent) =>
  async (url, { method = "GET", headers = {}, body, redirect } = {}) => {
    const request = superagent(method, url)
      .set(headers)
      .redirects(redirect ? 5 : 0)
      .ok(() => true)
      .buffer(true)
      .parse((response, done) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk)).on("end", () => done(null, Buffer.concat(chunks)));
      });
    const response = await (body === undefined ? request : request.send(body));
    return {
      status: response.status,
      statusText: response.res?.statusMessage,
      cookies: response.headers["set-cookie"] ?? [],
      header: (name) => response.headers[name] ?? null,
      read: async () => (Buffer.isBuffer(response.body) ? response.body : Buffer.alloc(0)),
    };
  };

/**
 * The AWS SDK as it asks its S3, at any endpoint: the address is put in place of
 * the one it made, before it is signed, and the answer is seen as its handler gives it.
 */
const ofAws =
  ({ S3Client, GetObjectCommand, PutObjectCommand }) =>
  async (url, { method = "GET", headers = {}, body, signal } = {}) => {
    const { origin, pathname, searchParams } = new URL(url);
    const client = new S3Client({
      endpoint: origin,
      region: "eu-west-1",
      forcePathStyle: true,
      maxAttempts: 1,
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
    });
    let response;
    let kept;
    client.middlewareStack.add(
      (next) => (args) => {
        Object.assign(args.request, { path: pathname, query: Object.fromEntries(searchParams), method });
        Object.assign(args.request.headers, headers);
        return next(args);
      },
      { step: "serialize", priority: "low" },
    );
    client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        response = result.response;
        // What answers a PutObject is read by the SDK, and given to nobody.
        if (body !== undefined) response.body = Readable.from([(kept = Buffer.concat(await response.body.toArray()))]);
        return result;
      },
      { step: "deserialize", priority: "low" },
    );
    const given = { Bucket: "bucket", Key: "key" };
    const command = body === undefined ? new GetObjectCommand(given) : new PutObjectCommand({ ...given, Body: body });
    // What is no success is an error to it, which the features look into.
    await client.send(command, { abortSignal: signal }).catch((error) => {
      if (!response) throw error;
    });
    return {
      status: response.statusCode,
      statusText: response.reason,
      header: (name) => response.headers[name] ?? null,
      stream: () => response.body,
      coded: true,
      read: async () => kept ?? Buffer.concat(await response.body.toArray()),
    };
  };
