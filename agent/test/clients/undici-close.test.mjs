import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocketServer } from "ws";
import { startTrafficMock } from "../../index.mjs";
import { REQUIRE, runNode } from "../lib/child.mjs";
import { everyUndici, hasUndici } from "../lib/clients.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/*
 * What an application sees of close() and destroy() while its requests are open. Each scenario runs without the agent
 * first, which says what is right.
 */

/** Nothing here may take as long, unless it hangs. */
const HANGS_MS = 1000;
/** How long a server or a test thinks about a request; longer than all that a scenario does at once. */
const THINKS_MS = 40;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let proxy, server, tunnel, local, folder, file, agent, worker, origin, through;
const versions = {};

/** The dispatchers, by what they are called here. */
const MADE = {
  Client: ({ Client }) => new Client(origin),
  "Client, pipelining": ({ Client }) => new Client(origin, { pipelining: 4 }),
  Pool: ({ Pool }) => new Pool(origin),
  "Pool, one connection": ({ Pool }) => new Pool(origin, { connections: 1 }),
  BalancedPool: ({ BalancedPool }) => new BalancedPool(origin),
  Agent: ({ Agent }) => new Agent(),
  "Agent, one connection": ({ Agent }) => new Agent({ connections: 1 }),
  RetryAgent: ({ RetryAgent, Agent }) => new RetryAgent(new Agent()),
  ProxyAgent: ({ ProxyAgent }) => new ProxyAgent(through),
  MockAgent: ({ MockAgent }) => new MockAgent(),
  MockPool: ({ MockAgent }) => new MockAgent().get(origin),
  composed: ({ Agent, interceptors }) => new Agent().compose(interceptors.redirect({ maxRedirections: 1 })),
};

/**
 * @callback Scenario
 * @param {any} undici
 * @param {any} dispatcher
 * @param {string} path
 * @param {(what: string) => void} say
 * @returns {Promise<unknown>}
 */

/** Say how a request ends. */
const ending = (say, name, request) =>
  request.then(
    async ({ statusCode, body }) => say(`${name} ${statusCode} ${await body.text()}`),
    (error) => say(`${name} ${error.name} ${error.code ?? error.message}`),
  );
const sent = (say, name, dispatcher, path, more) =>
  ending(say, name, dispatcher.request({ origin, path: `${path}?${name}`, method: "GET", ...more }));
const flags = (say, { closed, destroyed }) => say(`closed ${closed} destroyed ${destroyed}`);
const ended = (say, name, act) =>
  act.then(
    (value) => say(`${name}: ${value}`),
    (error) => say(`${name} ${error.name} ${error.code}`),
  );

/** Say all at once, where undici's order depends on which request has a connection. */
const sorted = (say, heard) => heard.sort().forEach((what) => say(what));

/** @type {Record<string, Scenario>} */
const SCENARIOS = {
  async "close waits for what is open"(undici, dispatcher, path, say) {
    const all = ["a", "b", "c"].map((name) => sent(say, name, dispatcher, path));
    const closing = ended(say, "closed", dispatcher.close());
    flags(say, dispatcher);
    await Promise.all([...all, closing]);
    flags(say, dispatcher);
  },
  async "close by a callback, twice"(undici, dispatcher, path, say) {
    const all = [sent(say, "a", dispatcher, path)];
    for (const name of ["first", "second"]) {
      all.push(new Promise((resolve) => dispatcher.close((...args) => resolve(say(`${name} ${args.join()}`)))));
    }
    await Promise.all(all);
    await ended(say, "third", dispatcher.close());
  },
  async "a dispatch after close and after its end"(undici, dispatcher, path, say) {
    const open = sent(say, "a", dispatcher, path);
    const closing = ended(say, "closed", dispatcher.close());
    const late = sent(say, "late", dispatcher, path);
    await Promise.all([open, closing, late]);
    await sent(say, "later", dispatcher, path);
  },
  async "destroy fails what is open"(undici, dispatcher, path, say) {
    const heard = [];
    const all = ["a", "b", "c"].map((name) => sent((what) => heard.push(what), name, dispatcher, path));
    const destroying = dispatcher.destroy();
    flags(say, dispatcher);
    await Promise.all([...all, destroying]);
    sorted(say, heard);
    await sent(say, "later", dispatcher, path);
  },
  async "destroy with an error, and a callback"(undici, dispatcher, path, say) {
    const all = [sent(say, "a", dispatcher, path)];
    all.push(
      new Promise((resolve) =>
        dispatcher.destroy(new Error("mine"), (...args) => resolve(say(`destroyed ${args.join()}`))),
      ),
    );
    await Promise.all(all);
  },
  async "destroy while it closes"(undici, dispatcher, path, say) {
    const heard = [];
    const all = ["a", "b"].map((name) => sent((what) => heard.push(what), name, dispatcher, path));
    // Some dispatchers never end this.
    void dispatcher.close();
    await wait(THINKS_MS / 4);
    await Promise.all([...all, dispatcher.destroy(new Error("mine"))]);
    sorted(say, heard);
  },
  async "an abort while it closes"(undici, dispatcher, path, say) {
    const control = new AbortController();
    const all = [sent(say, "a", dispatcher, path, { signal: control.signal })];
    all.push(ended(say, "closed", dispatcher.close()));
    setTimeout(() => control.abort(new Error("enough")), THINKS_MS / 4);
    await Promise.all(all);
  },
  async "a fetch by it"(undici, dispatcher, path, say) {
    const fetched = undici.fetch(`${origin}${path}`, { dispatcher }).then(
      async (response) => say(`${response.status} ${await response.text()}`),
      (error) => say(`${error.name} ${error.cause?.code}`),
    );
    // It dispatches its request some ticks later.
    await wait(THINKS_MS / 4);
    await Promise.all([fetched, ended(say, "closed", dispatcher.close())]);
  },
  async "a fetch that is destroyed"(undici, dispatcher, path, say) {
    const fetched = undici.fetch(`${origin}${path}`, { dispatcher }).then(
      async (response) => say(`${response.status} ${await response.text()}`),
      (error) => say(`${error.name} ${error.cause?.message}`),
    );
    await wait(THINKS_MS / 4);
    await Promise.all([fetched, dispatcher.destroy(new Error("mine"))]);
  },
};

/** What undici itself does not do, or does by what it has made of the requests: it takes no callback, or forgets those that run. */
const UNENDING = {
  RetryAgent: ["close by a callback, twice", "destroy with an error, and a callback", "destroy while it closes"],
  Agent: ["destroy while it closes"],
  "Agent, one connection": ["destroy while it closes"],
  ProxyAgent: ["destroy while it closes"],
  composed: ["destroy while it closes"],
  MockAgent: [
    "close by a callback, twice",
    "destroy fails what is open",
    "destroy with an error, and a callback",
    "destroy while it closes",
    "a fetch that is destroyed",
  ],
  MockPool: ["close by a callback, twice"],
};

/** What each dispatcher of each undici does in each scenario without the agent. @type {Map<string, Record<string, string[]>>} */
const plain = new Map();

/** @returns {Promise<string[]>} what is said, with "hangs" at the end if the scenario does not end */
async function run(version, made, title, path) {
  const log = [];
  const dispatcher = MADE[made](versions[version]);
  const done = SCENARIOS[title](versions[version], dispatcher, path, (what) => log.push(what));
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(log.push("hangs")), HANGS_MS);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
  return [...log];
}

const runAll = async (version, made, path) =>
  Object.fromEntries(
    await Promise.all(
      Object.keys(SCENARIOS)
        .filter((title) => !UNENDING[made]?.includes(title))
        .map(async (title) => [title, await run(version, made, title, path)]),
    ),
  );

const pathOf = (...names) => `/${names.join("-").replaceAll(/\W+/g, "-")}`;
const VERSIONS = ["undici6", "undici7", "undici8"].filter(hasUndici);

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "socket-"));
  file = join(folder, "api.sock");
  server = http.createServer((request, response) => setTimeout(() => response.end("ok"), THINKS_MS));
  server.listen(0, "127.0.0.1");
  local = http.createServer((request, response) => response.end("local")).listen(file);
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (...args) => setTimeout(() => sockets.handleUpgrade(...args, () => {}), THINKS_MS));
  // undici 8 asks a proxy for http without a tunnel.
  tunnel = http.createServer((request, response) => setTimeout(() => response.end("ok"), THINKS_MS));
  tunnel.listen(0, "127.0.0.1");
  tunnel.on("connect", (request, socket) => {
    const [host, port] = request.url.split(":");
    const up = net.connect(port, host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(up).pipe(socket);
    });
    for (const one of [up, socket]) one.on("error", () => {});
  });
  await Promise.all([once(server, "listening"), once(tunnel, "listening")]);
  origin = `http://127.0.0.1:${server.address().port}`;
  through = `http://127.0.0.1:${tunnel.address().port}`;
  Object.assign(versions, await everyUndici());
  for (const version of VERSIONS) {
    for (const made of Object.keys(MADE)) plain.set(`${version} ${made}`, await runAll(version, made, "/plain"));
  }
  proxy = await startProxy();
  agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
  worker = await startWorker(proxy.url);
});

after(async () => {
  worker?.close();
  await agent?.stop();
  server.close();
  server.closeAllConnections();
  tunnel.close();
  local.close();
  await rm(folder, { recursive: true });
  await proxy?.stop();
});

const WAYS = {
  passes: async (r) => {
    await wait(THINKS_MS);
    r.continue();
  },
  mocked: async (r) => {
    await wait(THINKS_MS);
    r.text("ok");
  },
};

for (const [way, decide] of Object.entries(WAYS)) {
  describe(`requests that a test ${way}`, () => {
    for (const version of VERSIONS) {
      for (const made of Object.keys(MADE)) {
        test(`${version} ${made}`, async () => {
          const path = pathOf(way, version, made);
          await worker.route(path, decide);
          assert.deepEqual(await runAll(version, made, path), plain.get(`${version} ${made}`));
        });
      }
    }
  });
}

for (const version of VERSIONS) {
  test(`${version}: a dispatcher of the application's own class stays as it is`, async () => {
    const { Agent, Dispatcher, fetch } = versions[version];
    const inner = new Agent();
    class Own extends Dispatcher {
      closed = false;
      dispatch(opts, handler) {
        return inner.dispatch(opts, handler);
      }
      close() {
        return inner.close();
      }
    }
    const own = new Own();
    const keys = Object.keys(own);
    const response = await fetch(`${origin}/own`, { dispatcher: own });
    assert.equal(await response.text(), "ok");
    assert.deepEqual(Object.keys(own), keys);
    assert.equal(own.close, Own.prototype.close);
    await own.close();
  });
}

describe("a process that is attached alone", () => {
  /** Sends what it is given at its first moment, closes, and ends by itself. */
  const ENDS = `const say = (what) => process.stdout.write(what + '\\n')
    process.on('exit', () => say('exit'))
    const origin = process.env.ORIGIN
    const asked = (name, act) => act.then((r) => (r.text ?? r.body.text).call(r.text ? r : r.body)).then((text) => say(name + ' ' + text))`;

  const PARTS = {
    Client: (version) => `const { Client } = require('${version}'), it = new Client(origin)
      asked('a', it.request({ path: '/a', method: 'GET' })); asked('b', it.request({ path: '/b', method: 'POST', body: 'b' }))
      it.close().then(() => say('closed'))`,
    "Agent, streamed body": (version) => `const { Agent } = require('${version}'), it = new Agent()
      asked('a', it.request({ origin, path: '/a', method: 'POST', body: (async function* () { yield 'a' })() }))
      it.close().then(() => say('closed'))`,
    "Agent, another origin later": (version) => `const { Agent } = require('${version}'), it = new Agent()
      asked('a', it.request({ origin, path: '/a', method: 'GET' })).then(() => {
        asked('b', it.request({ origin: origin.replace('127.0.0.1', 'localhost'), path: '/b', method: 'GET' }))
        it.close().then(() => say('closed'))
      })`,
    "the global dispatcher of fetch": (version) => `const { fetch, getGlobalDispatcher } = require('${version}')
      asked('a', fetch(origin + '/a')); setImmediate(() => getGlobalDispatcher().close().then(() => say('closed')))`,
    "the global dispatcher of Node's fetch": (version) => `const { getGlobalDispatcher } = require('${version}')
      asked('a', fetch(origin + '/a')); setImmediate(() => getGlobalDispatcher().close().then(() => say('closed')))`,
    "a handshake": (version) => `const { Client } = require('${version}'), it = new Client(origin)
      const headers = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' }
      it.upgrade({ path: '/', protocol: 'websocket', headers }).then(({ socket }) => { say('upgraded'); socket.destroy() })
      it.close().then(() => say('closed'))`,
    "a UNIX socket": (version) => `const { Client } = require('${version}')
      const it = new Client('http://local', { socketPath: process.env.FILE }), other = new Client('http://local', { socketPath: process.env.FILE })
      asked('a', it.request({ path: '/a', method: 'GET' }))
      it.close().then(() => {
        say('closed')
        other.request({ path: '/b', method: 'GET' }).catch((error) => say(error.message))
        other.destroy(new Error('mine')).then(() => say('destroyed'))
      })`,
    "a UNIX socket, destroyed": (version) => `const { Client } = require('${version}')
      const it = new Client('http://local', { socketPath: process.env.FILE })
      it.request({ path: '/b', method: 'GET' }).catch((error) => say(error.message))
      it.destroy(new Error('mine')).then(() => say('destroyed'))`,
    "a UNIX socket, closed and destroyed": (version) => `const { Client } = require('${version}')
      const it = new Client('http://local', { socketPath: process.env.FILE })
      it.request({ path: '/b', method: 'GET' }).catch((error) => say(error.message))
      it.close().then(() => say('closed')); it.destroy(new Error('mine')).then(() => say('destroyed'))`,
    "what is closed and destroyed": (version) => `const { Pool } = require('${version}'), it = new Pool(origin)
      it.request({ path: '/a', method: 'GET' }).catch((error) => say(error.message))
      it.close().then(() => say('closed')); it.destroy(new Error('mine')).then(() => say('destroyed'))`,
    "what is destroyed": (version) => `const { Pool } = require('${version}'), it = new Pool(origin)
      it.request({ path: '/a', method: 'GET' }).catch((error) => say(error.message))
      it.destroy(new Error('mine')).then(() => say('destroyed'))`,
  };

  for (const version of VERSIONS) {
    for (const [title, code] of Object.entries(PARTS)) {
      test(`${version}: ${title}`, async () => {
        const env = { TRAFFICMOCK_PROXY_URL: proxy.url, ORIGIN: origin, FILE: file };
        const script = `${ENDS}\n${code(version)}`;
        const [without, attached] = await Promise.all(
          ["", REQUIRE].map((preload) => runNode(script, { preload, env })),
        );
        assert.equal(attached.stderr, without.stderr);
        assert.equal(attached.stdout, without.stdout);
        assert.match(attached.stdout, /exit\n$/);
      });
    }
  }
});
