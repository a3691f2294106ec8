import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { REQUIRE, runNode } from "../lib/child.mjs";
import { selfSigned } from "../lib/certificate.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";

/** Each client sends one request to each server, to the path that is its name. */
const APP = `
  const http = require('http'), https = require('https')
  const axios = require('axios')
  const { BASES, PROXY } = process.env
  // The preload has hidden those of the environment; an application may have others from a file.
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']) process.env[name] = PROXY
  const sendAll = async (BASE) => {
  const isSecure = BASE.startsWith('https')
  const of = isSecure ? https : http
  const get = (name, options) => new Promise((resolve, reject) => {
    of.get(BASE + '/' + name, options, (response) => { response.resume(); resolve(response.statusCode) }).on('error', reject)
  })
  // As agent-base and those on it name their proxy.
  class ViaProxy extends of.Agent {
    constructor () { super(); this.proxy = new URL(PROXY) }
    createConnection () { throw new Error('asked for a connection to the proxy') }
  }
  const clients = {
    fetch: async (name) => (await fetch(BASE + '/' + name)).status,
    get: (name) => get(name, {}),
    'header-list': (name) => get(name, { headers: ['Host', new URL(BASE).host, 'x-one', '1'] }),
    'own-agent': (name) => get(name, { agent: new ViaProxy() }),
    axios: async (name) => (await axios.get(BASE + '/' + name)).status
  }
  // With a proxy of its own, Node refuses what is made for another.
  const isPlain = process.env.NODE_USE_ENV_PROXY === '0'
  const proxy = { protocol: 'http', host: '127.0.0.1', port: new URL(PROXY).port }
  if (isPlain) clients['axios-proxy'] = async (name) => (await axios.get(BASE + '/' + name, { proxy })).status
  if (isPlain && !isSecure) clients['absolute-form'] = (name) => new Promise((resolve, reject) => {
    http.get({ host: '127.0.0.1', port: new URL(PROXY).port, path: BASE + '/' + name, headers: { host: new URL(BASE).host, 'proxy-authorization': 'x' } }, (response) => resolve(response.resume().statusCode)).on('error', reject)
  })
  const tls = { ca: process.env.CERT && require('fs').readFileSync(process.env.CERT) }
  for (const version of ['undici6', 'undici7']) {
    const { ProxyAgent, EnvHttpProxyAgent, request } = require(version)
    const send = (dispatcher) => async (name) => {
      const { statusCode, body } = await request(BASE + '/' + name, { dispatcher })
      await body.dump()
      return statusCode
    }
    clients[version + '-ProxyAgent'] = send(new ProxyAgent({ uri: PROXY, requestTls: tls }))
    clients[version + '-no-tunnel'] = send(new ProxyAgent({ uri: PROXY, proxyTunnel: false, requestTls: tls }))
    clients[version + '-EnvHttpProxyAgent'] = send(new EnvHttpProxyAgent({ requestTls: tls }))
  }
  for (const [name, send] of Object.entries(clients)) console.log(BASE + '/' + name, await send(name).catch((error) => (error.cause ?? error).message))
  }
  void (async () => { for (const base of BASES.split(' ')) await sendAll(base) })()`;

describe("HTTP_PROXY leads to trafficmock, and the process is attached", () => {
  let proxy, servers, file;
  before(async () => {
    const tls = selfSigned();
    file = tls.file;
    proxy = await startProxy();
    servers = { http: await startUpstream(), https: await startUpstream(tls) };
  });
  after(async () => {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
    await proxy.stop();
  });

  for (const nodes of ["0", "1"]) {
    test(`NODE_USE_ENV_PROXY=${nodes}: announced once, and sent once`, { timeout: 30000 }, async () => {
      const upstreams = Object.values(servers);
      const clientId = `nodes-${nodes}`;
      const variables = Object.fromEntries(
        ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxy.url]),
      );
      for (const { seen } of upstreams) seen.length = 0;
      const { stdout, stderr } = await runNode(APP, {
        env: {
          ...variables,
          NO_PROXY: "",
          no_proxy: "",
          NODE_USE_ENV_PROXY: nodes,
          NODE_EXTRA_CA_CERTS: file,
          CERT: file,
          NODE_NO_WARNINGS: "1",
          NODE_OPTIONS: REQUIRE,
          TRAFFICMOCK_PROXY_URL: proxy.url,
          TRAFFICMOCK_CLIENT_ID: clientId,
          BASES: upstreams.map(({ url }) => url).join(" "),
          PROXY: proxy.url,
        },
        ms: 25000,
      });
      assert.equal(stderr, "");
      const urls = stdout
        .trim()
        .split("\n")
        .map((line) => line.split(" ")[0]);
      assert.ok(urls.length >= 22, stdout);
      assert.deepEqual(
        stdout.trim().split("\n"),
        urls.map((url) => `${url} 200`),
      );
      const sent = upstreams.flatMap(({ url, seen }) => seen.map((request) => url + request.url));
      assert.deepEqual(sent, urls);
      const headers = upstreams.flatMap(({ seen }) => seen.map((request) => request.headers));
      assert.ok(!headers.some((one) => one["proxy-connection"] || one["proxy-authorization"]));
      const { entries } = await proxy.get("/api/history");
      const rows = entries.filter((entry) => entry.clientId === clientId).reverse();
      assert.deepEqual(
        rows.map(({ request }) => request.url),
        urls,
      );
      assert.ok(!entries.some((entry) => entry.clientId === "proxy"));
    });
  }
});
