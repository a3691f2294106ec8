"use strict";

const http = require("node:http");
const https = require("node:https");
const { syncBuiltinESMExports } = require("node:module");
const { isIPv6 } = require("node:net");
const { isBypassed } = require("../bypass.js");
const { callersOf } = require("../process/callers.js");
const { chains } = require("../exchange/redirects.js");
const { HeldRequest } = require("./held-request.js");
const { beginSending, endSending, holdTunnel } = require("./held-tunnel.js");
const { sendDirectly } = require("./direct.js");
const { rewriteHead } = require("./head.js");
const { isNodes, opensItself, withConnection, withSecurity } = require("./foreign-agents.js");
const { MockSocket } = require("./mock-socket.js");
const { pass } = require("./passed-request.js");
const { onSocket } = require("./on-socket.js");
const { tlsOptions } = require("./tls-options.js");
const { isNamed, isPipe, socketUrl, whenKnown } = require("./unix-sockets.js");

/**
 * @callback Upgrade
 * @param {{ req: any, url: URL, options: any, release: () => void }} held
 * @returns {boolean} whether the handshake is held
 */

/** Marks requests that a hook has seen, so that none is announced twice. */
const SEEN = Symbol("trafficmock.seen");

/** The options of the running call: of clients with connections of their own, such as npm `ws`, they are available nowhere else. @type {any} */
let called;

/** Stands for the host of a request to a socket in the file system. */
const LOCAL = new URL("http://localhost");

/** The callers of the running call. @type {{ stack?: string } | undefined} */
let callers;

/**
 * Intercept `node:http` and `node:https`. A request is held where it asks its `http.Agent`
 * for a connection: nothing is connected yet, and one call of that agent's
 * method sends the request.
 *
 * @param {import('../agent.js').Agent} agent
 * @param {Upgrade} upgrade decides whether the handshake of a WebSocket is held
 * @returns {() => void} undoes it
 */
function install(agent, upgrade) {
  const undo = [
    hookAddRequest(agent, upgrade, http.Agent.prototype),
    hookOnSocket(agent, upgrade),
    ...[http, https].flatMap((module) =>
      ["request", "get"].map((name) => hookCall(agent, upgrade, /** @type {any} */ (module), name)),
    ),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const act of undo) act();
    syncBuiltinESMExports();
  };
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {Upgrade} upgrade
 * @param {any} owner the prototype, or object, that has `addRequest`
 */
function hookAddRequest(agent, upgrade, owner) {
  const original = owner.addRequest;
  /** @this {any} */
  function addRequest(/** @type {any} */ req, /** @type {any[]} */ ...args) {
    const given = typeof args[0] === "object" && args[0] !== null ? args[0] : { host: args[0], port: args[1] };
    const direct = agent.isAttached ? sendDirectly(agent, this, req, given) : undefined;
    const server = opensItself(this) ? peerOf(req, given, hostOf(req, given)) : undefined;
    const now = () => {
      beginSending(req, server);
      try {
        return original.call(this, req, ...args);
      } finally {
        endSending();
      }
    };
    const later = () => {
      if (isNodes(this)) return now();
      // Called later, a class that reads the stack would not find the function of the application's call there.
      args = [withSecurity(this, given, req.protocol)];
      return withConnection(req, now);
    };
    if (hold(agent, upgrade, req, direct?.options ?? given, direct?.release ?? later)) return undefined;
    return direct ? direct.release() : now();
  }
  owner.addRequest = Object.assign(addRequest, { [SEEN]: true });
  return () => {
    if (owner.addRequest === addRequest) owner.addRequest = original;
  };
}

/**
 * Hold requests that do not use an agent's `addRequest` (`createConnection`, other kinds of
 * agents): here, when their socket comes.
 * @param {import('../agent.js').Agent} agent
 * @param {Upgrade} upgrade
 */
function hookOnSocket(agent, upgrade) {
  const owner = /** @type {any} */ (http.ClientRequest.prototype);
  const original = owner.onSocket;
  owner.onSocket = function onSocket(/** @type {any} */ socket, /** @type {any} */ error) {
    /** @type {Error | undefined} */
    let failure;
    let isReleased = false;
    // A failed connection to the upstream must not fail a request that is mocked.
    const keep = (/** @type {Error} */ reason) => {
      failure = reason;
    };
    const release = () => {
      isReleased = true;
      socket.removeListener("error", keep);
      // A request that has a socket already gets this one in its own way.
      if (Object.hasOwn(this, "onSocket")) this.onSocket(socket, failure);
      else original.call(this, socket, failure);
    };
    // Which UNIX socket it is, only those know that have opened it.
    if (error || !socket || isBypassed() || isPipe(socket)) return original.call(this, socket, error);
    socket.on("error", keep);
    if (!hold(agent, upgrade, this, tlsOptions(called), release)) return release();
    this.once("close", () => {
      if (!isReleased) socket.destroy();
    });
  };
  return () => {
    owner.onSocket = original;
  };
}

/**
 * Hook the agents of requests that have an `addRequest` of their own, when a request is made.
 * @param {import('../agent.js').Agent} agent
 * @param {Upgrade} upgrade
 * @param {any} module
 * @param {string} name
 */
function hookCall(agent, upgrade, module, name) {
  const original = module[name];
  const call = {
    [name]: function (/** @type {any[]} */ ...args) {
      for (const arg of args) if (arg?.agent) ensure(agent, upgrade, arg.agent);
      const before = [called, callers];
      called = args.find((arg) => typeof arg === "object" && !(arg instanceof URL));
      callers = agent.local.mayRefuse ? callersOf(call) : undefined;
      try {
        return original.apply(this, args);
      } finally {
        [called, callers] = before;
      }
    },
  }[name];
  module[name] = call;
  return () => {
    if (module[name] === call) module[name] = original;
  };
}

/**
 * Hook an agent that is not one of Node's. A subclass of `http.Agent` is not hooked: it may change the
 * request before it calls the method of `http.Agent`, which is hooked.
 * @param {import('../agent.js').Agent} agent
 * @param {Upgrade} upgrade
 * @param {any} httpAgent
 */
function ensure(agent, upgrade, httpAgent) {
  if (typeof httpAgent.addRequest !== "function" || httpAgent.addRequest[SEEN]) return;
  if (httpAgent instanceof http.Agent) return;
  let owner = httpAgent;
  while (owner && !Object.hasOwn(owner, "addRequest")) owner = Object.getPrototypeOf(owner);
  if (owner) hookAddRequest(agent, upgrade, owner);
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {Upgrade} upgrade
 * @param {any} req
 * @param {any} options
 * @param {() => void} release
 * @returns {boolean} whether the request is held, or has failed; if not, the caller releases it
 */
function hold(agent, upgrade, req, options, release) {
  // A request whose signal is aborted already was destroyed before it asked for a connection.
  if (req[SEEN] || req.destroyed) return false;
  req[SEEN] = true;
  if (!agent.isAttached || isBypassed()) return false;
  const host = hostOf(req, options);
  const peer = peerOf(req, options, host);
  if (req.method === "CONNECT") return peer ? connect(agent, req, peer, release) : false;
  const file = pathOf(req, options);
  if (file) return holdLocal(agent, req, file, options, release) || passOn(agent, req, peer ?? LOCAL);
  if (!peer) return failUnresolved(req, host);
  if (agent.hosts.isProxy(peer)) return passOn(agent, req, peer);
  const url = agent.hosts.counted(targetOf(req.path, peer), peer);
  if (agent.hosts.isOwnServer(url)) return passOn(agent, req, url, agent.contexts.current());
  if (agent.hosts.isIgnored(url)) {
    agent.ignored(req.method, url);
    return passOn(agent, req, url);
  }
  if (wantsWebSocket(req)) {
    return upgrade({ req, url, options, release }) || passOn(agent, req, url, agent.contexts.current());
  }
  const chain = chains.getStore();
  if (!chain?.leadsTo(url.href)) agent.contexts.loops.sends(hold);
  if (pass(agent, req, url, chain, callers)) return false;
  void new HeldRequest(agent, req, url, options, release, chain, callers);
  return true;
}

/**
 * Hold a request to a UNIX socket, if a route names it. All others pass unseen.
 * @param {import('../agent.js').Agent} agent
 * @param {any} req
 * @param {string} file the path of the socket
 * @param {any} options
 * @param {() => void} release
 * @returns {boolean} whether it is held
 */
function holdLocal(agent, req, file, options, release) {
  const isSecure = (options.protocol ?? req.protocol) === "https:";
  const url = isSecure || wantsWebSocket(req) ? undefined : socketUrl(file, req.path);
  const isKnown = url && isNamed(agent, url);
  if (!url || isKnown === false) return false;
  const chain = chains.getStore();
  const take = () => void new HeldRequest(agent, req, url, options, release, chain, callers);
  if (isKnown) take();
  else whenKnown(agent, url, (isWanted) => (isWanted && !req.destroyed ? take() : release()));
  return true;
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {any} req the application's own tunnel
 * @param {URL} peer its proxy
 * @param {() => void} release
 * @returns {boolean} whether it is held
 */
function connect(agent, req, peer, release) {
  // The context goes to hosts of the system under test only.
  passOn(agent, req, peer);
  return holdTunnel(agent, req, peer, release);
}

/**
 * Correct the context headers of a request that is not held.
 * @param {import('../agent.js').Agent} agent
 * @param {any} req
 * @param {URL} url
 * @param {import('../contexts/test-contexts.js').TestContext} [context] that it carries; none for an ignored host
 * @returns {false} the request is not held
 */
function passOn(agent, req, url, context) {
  rewriteHead(req, (pairs) => agent.contexts.outbound(url, pairs, context));
  return false;
}

/**
 * Make the URL of a request. A path may begin with two slashes, which a URL parser would read as a host.
 * @param {string} path of the request; a request to another proxy has the whole URL here
 * @param {URL} peer that the request connects to
 * @returns {URL}
 */
function targetOf(path, peer) {
  const [, scheme, rest] = /^([a-z][\w+.-]*):\/\/(.*)$/is.exec(path) ?? [];
  const named = `${/^(https|wss)$/i.test(scheme) ? "https" : "http"}://${rest}`;
  if (scheme && URL.canParse(named)) return new URL(named);
  return new URL(`${peer.origin}${path.startsWith("/") ? "" : "/"}${path}`);
}

/**
 * @param {any} req
 * @returns {boolean} whether it opens a WebSocket; an upgrade to another protocol is an ordinary request
 */
function wantsWebSocket(req) {
  const wanted = req.getHeader("upgrade") ?? /\r\nupgrade:([^\r]*)/i.exec(req._header ?? "")?.[1];
  return /^\s*websocket\s*$/i.test(String(wanted ?? ""));
}

/**
 * @param {any} req
 * @param {any} options
 * @returns {string | undefined} the path of the socket in the file system that it connects to
 */
const pathOf = (req, options) => req.socketPath ?? options.socketPath ?? req.agent?.options?.socketPath;

/**
 * @param {any} req
 * @param {any} options
 * @returns {string} the host that it connects to, as Node reads its options
 */
const hostOf = (req, options) => String(options.hostname || options.host || req.host || "localhost");

/**
 * @param {any} req
 * @param {any} options
 * @param {string} host
 * @returns {URL | undefined} the origin that the request connects to; `undefined` if no URL can have this host
 */
function peerOf(req, options, host) {
  const port = options.port ?? /:(\d+)$/.exec(req.getHeader("host") ?? "")?.[1];
  // A URL cannot have the zone of an IPv6 address.
  const bare = host.replace(/^\[|\]$/g, "").replace(/%.*/, "");
  const authority = `${bare.includes(":") && isIPv6(bare) ? `[${bare}]` : host}${port ? `:${port}` : ""}`;
  const text = `${(options.protocol ?? req.protocol) === "https:" ? "https" : "http"}://${authority}`;
  return URL.canParse(text) ? new URL(text) : undefined;
}

/**
 * Fail a request to a host that no URL can have: no pattern can allow it, and no name server can resolve it.
 * @param {any} req
 * @param {string} host
 * @returns {true}
 */
function failUnresolved(req, host) {
  const code = "ENOTFOUND";
  req.destroy(
    Object.assign(new Error(`getaddrinfo ${code} ${host}`), { code, syscall: "getaddrinfo", hostname: host }),
  );
  // A request emits `error` and `close` only with a socket.
  onSocket.call(req, new MockSocket(false));
  return true;
}

module.exports = { install };
