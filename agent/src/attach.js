"use strict";

const { Agent } = require("./agent.js");
const http = require("./http/http-hook.js");
const { OwnServers } = require("./http/own-servers.js");
const { UndiciHook } = require("./undici/undici-hook.js");
const { WebSocketHook } = require("./websocket/websocket-hook.js");
const { onModule } = require("./process/modules.js");
const { hideProxyVariables } = require("./proxy-variables.js");
const { attachWorkers } = require("./process/workers.js");
const { hookRepeatedTimers } = require("./contexts/repeated-timers.js");
const { hookConnections } = require("./contexts/connections.js");
const { hookSharedChannels } = require("./contexts/shared-channels.js");
const { hookQueues } = require("./contexts/queues.js");
const { carryMessages } = require("./messages/libraries.js");
const { watchHttp2 } = require("./http/http2.js");
const { watchUnresolvedHosts } = require("./http/unresolved-hosts.js");
const { keyFetch } = require("./contexts/fetch-key.js");
const { PARENT } = require("./settings.js");
const { TrafficMockError } = require("./protocol/errors.js");
const { outer } = require("./process/realm.js");

const UNDICI = /[\\/]undici[^\\/]*[\\/]index\.js$/;

/** A URL without a proxy, for an agent that never connects. */
const NOWHERE = "http://trafficmock.invalid";
const NO_CONTEXTS = { isContextRead: false, contextMs: 0, isFetchKeyed: false, isLocal: false };

/**
 * The property of the global object that has the one agent of this thread. It is a
 * registered symbol, because the preload and the application may load two copies of
 * this package, and a test runner loads another one into each of its contexts.
 */
const ATTACHED = Symbol.for("trafficmock.attached");
const own = /** @type {{ [ATTACHED]?: Attached }} */ (outer);

/**
 * @typedef {object} Attached
 * @property {Agent} agent
 * @property {string} proxyUrl
 * @property {boolean} isPreload
 * @property {object} realm the global object of the code that attached
 * @property {Promise<void>} ready
 * @property {(() => void)[]} undo what is done when it is detached
 * @property {Handle} handle
 */

/** @typedef {{ readonly clientId: string, stop(): Promise<void> }} Handle */

/**
 * Attach this process after the proxy has answered. An agent that a preload has attached is shared: it stays attached,
 * in strict mode too, whoever stops using it.
 * @param {import('./settings.js').Settings} settings
 * @returns {Promise<Handle>}
 * @throws {TrafficMockError} the proxy does not accept the agent, or another agent is attached
 */
async function attach(settings) {
  stopLeft();
  const known = own[ATTACHED];
  if (known && !(known.isPreload && known.proxyUrl === settings.proxyUrl)) throw alreadyStarted(known);
  const { agent, handle, ready } = known ?? begin(settings);
  // The caller awaits the answer, so the process must stay alive until it comes.
  agent.keepAlive.hold();
  await ready.finally(() => agent.keepAlive.release());
  return known ? handleOf(agent, async () => {}) : handle;
}

/**
 * A process that is attached for the tests that run in it.
 *
 * @typedef {object} SelfAttachment
 * @property {string} clientId
 * @property {Promise<void>} ready settled when the proxy has answered and the clients are intercepted
 * @property {boolean} isAttached
 * @property {(id: string) => import('./contexts/own-tests.js').OwnTest} begin begins a test, by the id of its context
 * @property {(url: URL) => number | undefined} calledOwn gives the port, if it is that of a server of this process that was called
 * @property {() => Promise<void>} stop detaches the process, unless a preload has attached it
 */

/**
 * Attach this process for its tests, or share the agent that it has.
 * @param {import('./settings.js').Settings} settings
 * @returns {SelfAttachment}
 * @throws {TrafficMockError} this process is attached to another proxy
 */
function attachSelf(settings) {
  stopLeft();
  const known = own[ATTACHED];
  if (known && known.proxyUrl !== settings.proxyUrl) throw alreadyStarted(known);
  const attached = known ?? begin(settings);
  const { agent } = attached;
  if (!agent.hosts.ownServers) {
    agent.hosts.ownServers = listening(attached);
    agent.tellOfTests();
  }
  agent.keepAlive.hold();
  const ready = attached.ready.finally(() => agent.keepAlive.release());
  return {
    ready,
    get clientId() {
      return agent.clientId;
    },
    get isAttached() {
      return agent.isAttached;
    },
    begin: (id) => agent.contexts.tests.begin(id),
    calledOwn: (url) => agent.hosts.ownServers?.calledPort(url),
    stop: async () => {
      if (!attached.isPreload) await attached.handle.stop();
    },
  };
}

/** @param {Attached} attached */
function listening({ undo }) {
  const servers = new OwnServers();
  undo.push(servers.install());
  return servers;
}

/** Stop the agent of a context of a test runner that ended without `stop()`. */
function stopLeft() {
  const left = own[ATTACHED];
  if (left && !left.isPreload && left.realm !== globalThis) void left.handle.stop();
}

/** @param {Attached} known */
const alreadyStarted = ({ proxyUrl }) =>
  new TrafficMockError("already_started", `trafficmock is already attached to ${proxyUrl}; call stop() first.`);

/**
 * Begin to attach this process: nothing is intercepted before the proxy has answered.
 * @param {import('./settings.js').Settings} settings
 * @returns {Attached}
 */
function begin(settings) {
  const agent = new Agent(settings);
  const ready = agent.start().then(
    () => {
      if (agent.isAttached) attached.undo.push(...install(agent));
    },
    (error) => {
      void attached.handle.stop();
      throw error;
    },
  );
  const attached = enter(agent, settings, false, ready);
  return attached;
}

/**
 * Attach this process without waiting, for a preload: requests wait for the handshake.
 * @param {import('./settings.js').Settings} settings
 * @param {(error: Error) => void} complain called if the first handshake fails
 * @param {string} preload path of the file that calls this
 */
function attachNow(settings, complain, preload) {
  if (own[ATTACHED]) return;
  const agent = new Agent(settings);
  process.env[PARENT] ??= String(process.pid);
  const ready = agent.start();
  ready.catch(complain);
  enter(agent, settings, true, ready);
  install(agent);
  hideProxyVariables(agent);
  attachWorkers(preload);
}

/**
 * Fail every request of this process, as if the proxy could not be reached.
 * @param {Error} reason what is wrong with the settings
 */
function refuseAll(reason) {
  const agent = new Agent({
    proxyUrl: NOWHERE,
    token: undefined,
    clientId: "",
    webSocket: "all",
    ignoreHosts: [],
    strictAnswer: "error",
    isSealed: false,
    ...NO_CONTEXTS,
  });
  agent.down(new TrafficMockError("invalid_settings", reason.message, { cause: reason }));
  install(agent);
}

/**
 * @param {Agent} agent
 * @param {import('./settings.js').Settings} settings
 * @param {boolean} isPreload
 * @param {Promise<void>} ready
 */
function enter(agent, { proxyUrl }, isPreload, ready) {
  const attached = {
    agent,
    proxyUrl,
    isPreload,
    realm: globalThis,
    ready,
    /** @type {(() => void)[]} */
    undo: [],
    handle: handleOf(agent, async () => {
      for (const act of attached.undo.splice(0)) act();
      agent.stop();
      if (own[ATTACHED] === attached) delete own[ATTACHED];
    }),
  };
  own[ATTACHED] = attached;
  return attached;
}

/**
 * @param {Agent} agent
 * @param {() => Promise<void>} stop
 * @returns {Handle}
 */
const handleOf = (agent, stop) => ({
  get clientId() {
    return agent.clientId;
  },
  stop,
});

/**
 * Intercept the clients of this process.
 * @param {Agent} agent
 * @returns {(() => void)[]} what undoes it
 */
function install(agent) {
  const undici = new UndiciHook(agent);
  undici.install();
  const sockets = new WebSocketHook(agent);
  undici.upgrade = (held) => sockets.takeDispatch(held);
  return [
    keyFetch(agent),
    agent.contexts.hookServers(),
    hookRepeatedTimers(agent.contexts),
    hookConnections(agent.contexts),
    hookSharedChannels(agent.contexts),
    hookQueues(agent.contexts),
    http.install(agent, (held) => sockets.takeRequest(held)),
    sockets.install(),
    watchHttp2(agent),
    watchUnresolvedHosts(agent),
    carryMessages(agent.contexts),
    onModule(UNDICI, (exports) => undici.hookModule(exports)),
    () => undici.uninstall(),
  ];
}

module.exports = { attach, attachNow, attachSelf, refuseAll };
