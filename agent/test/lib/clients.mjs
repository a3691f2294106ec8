import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'

/** In the order of the table. */
export const CLIENTS = ['fetch', 'node:http', ...[6, 7, 8].flatMap((version) => ['fetch', 'request', 'Agent'].map((what) => `undici${version} ${what}`)), 'axios', 'got', 'node-fetch', 'superagent']

/** undici 8 needs Node 22. */
export const hasUndici = (name) => !name.startsWith('undici8') || Number(process.versions.node.split('.')[0]) >= 22

/**
 * Every HTTP client library, behind one call:
 * `send(url, { method, headers, body, signal, redirect })` gives
 * `{ status, statusText, cookies, header(name), body, stream }`, or rejects.
 *
 * @param {(name: string) => Promise<any>} load by `import` or by `require`
 */
export async function loadClients (load) {
  const clients = { fetch: ofFetch((...args) => globalThis.fetch(...args)), 'node:http': ofNodeHttp }
  for (const version of ['undici6', 'undici7', 'undici8']) {
    if (!hasUndici(version)) continue
    const undici = await load(version)
    const agent = new undici.Agent({ keepAliveTimeout: 100 })
    clients[`${version} fetch`] = ofFetch(undici.fetch)
    clients[`${version} request`] = ofUndici(undici, undefined)
    clients[`${version} Agent`] = ofUndici(undici, agent)
  }
  clients.axios = ofAxios((await load('axios')).default)
  clients.got = ofGot((await import('got')).default)
  clients['node-fetch'] = ofFetch((await import('node-fetch')).default)
  clients.superagent = ofSuperagent((await load('superagent')).default)
  return clients
}

const ofFetch = (fetch) => async (url, options = {}) => {
  const response = await fetch(url, { ...options, redirect: options.redirect ? 'follow' : 'manual' })
  return {
    status: response.status,
    statusText: response.statusText,
    cookies: response.headers.getSetCookie?.() ?? response.headers.raw()['set-cookie'] ?? [],
    header: (name) => response.headers.get(name),
    stream: () => (response.body instanceof Readable ? response.body : Readable.fromWeb(response.body)),
    read: async () => Buffer.from(await response.arrayBuffer())
  }
}

const ofUndici = ({ request, interceptors, Agent }, agent) => async (url, { method = 'GET', headers, body, signal, redirect } = {}) => {
  const base = agent ?? new Agent()
  const dispatcher = redirect ? base.compose(interceptors.redirect({ maxRedirections: 5 })) : agent
  const response = await request(url, { method, headers, body, signal, ...(dispatcher && { dispatcher }) })
  return {
    status: response.statusCode,
    statusText: response.statusText,
    cookies: [response.headers['set-cookie'] ?? []].flat(),
    header: (name) => response.headers[name] ?? null,
    stream: () => response.body,
    coded: true,
    read: async () => Buffer.from(await response.body.arrayBuffer())
  }
}

const ofNodeHttp = (url, { method = 'GET', headers, body, signal } = {}) => new Promise((resolve, reject) => {
  const request = (url.startsWith('https') ? https : http).request(url, { method, headers, signal })
  request.on('error', reject)
  request.on('response', (response) => resolve({
    status: response.statusCode,
    statusText: response.statusMessage,
    cookies: response.headers['set-cookie'] ?? [],
    header: (name) => response.headers[name] ?? null,
    stream: () => response,
    coded: true,
    read: async () => Buffer.concat(await response.toArray())
  }))
  request.end(body)
})

const ofAxios = (axios) => async (url, { method = 'GET', headers, body, signal, redirect } = {}) => {
  const response = await axios.request({ url, method, headers, data: body, signal, maxRedirects: redirect ? 5 : 0, responseType: 'stream', validateStatus: () => true, proxy: false, adapter: 'http' })
  return {
    status: response.status,
    statusText: response.statusText,
    cookies: response.headers['set-cookie'] ?? [],
    header: (name) => response.headers[name] ?? null,
    stream: () => response.data,
    read: async () => Buffer.concat(await response.data.toArray())
  }
}

const ofGot = (got) => (url, { method = 'GET', headers, body, signal, redirect } = {}) => new Promise((resolve, reject) => {
  const stream = got.stream(url, { method, headers, body, signal, followRedirect: Boolean(redirect), throwHttpErrors: false, retry: { limit: 0 } })
  stream.on('error', reject)
  stream.on('response', (response) => resolve({
    status: response.statusCode,
    statusText: response.statusMessage,
    cookies: response.headers['set-cookie'] ?? [],
    header: (name) => response.headers[name] ?? null,
    stream: () => stream,
    read: async () => Buffer.concat(await stream.toArray())
  }))
  if (!body && !['GET', 'HEAD'].includes(method)) stream.end()
})

const ofSuperagent = (superagent) => async (url, { method = 'GET', headers = {}, body, redirect } = {}) => {
  const request = superagent(method, url).set(headers).redirects(redirect ? 5 : 0).ok(() => true).buffer(true)
    .parse((response, done) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk)).on('end', () => done(null, Buffer.concat(chunks)))
    })
  const response = await (body === undefined ? request : request.send(body))
  return {
    status: response.status,
    statusText: response.res?.statusMessage,
    cookies: response.headers['set-cookie'] ?? [],
    header: (name) => response.headers[name] ?? null,
    read: async () => (Buffer.isBuffer(response.body) ? response.body : Buffer.alloc(0))
  }
}
