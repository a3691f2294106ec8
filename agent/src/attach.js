"use strict";

const { Agent } = require("./agent.js");
const http = require("./http/http-hook.js");
const { UndiciHook } = require("./undici/undici-hook.js");
const { WebSocketHook } = require("./websocket/websocket-hook.js");
const { onModule } = require("./process/modules.js");
const { hideProxyVariables } = require("./proxy-variables.js");
const { attachWorkers } = require("./process/workers.js");
const { hookIntervals } = require("./contexts/intervals.js");
const { hookQueues } = require("./contexts/queues.js");
const { carryMessages } = require("./messages/libraries.js");
const { watchHttp2 } = require("./http/http2.js");
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
  // A context of a test runner that ended without stop() has left its agent attached.
  if (own[ATTACHED] && !own[ATTACHED].isPreload && own[ATTACHED].realm !== globalThis) {
    await own[ATTACHED].handle.stop();
  }
  const known = own[ATTACHED];
  if (known) {
    if (!known.isPreload || known.proxyUrl !== settings.proxyUrl) {
      throw new TrafficMockError(
        "already_started",
        `trafficmock is already attached to ${known.proxyUrl}; call stop() first.`,
      );
    }
    known.agent.keepAlive.hold();
    await known.ready.finally(() => known.agent.keepAlive.release());
    return handleOf(known.agent, async () => {});
  }
  const agent = new Agent(settings);
  // The caller awaits the answer, so the process must stay alive until it comes.
  agent.keepAlive.hold();
  const ready = agent.start();
  const attached = enter(agent, settings, false, ready);
  try {
    await ready;
  } catch (error) {
    await attached.handle.stop();
    throw error;
  } finally {
    agent.keepAlive.release();
  }
  attached.uninstall = install(agent);
  return attached.handle;
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
    uninstall: () => {},
    handle: handleOf(agent, async () => {
      attached.uninstall();
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
 */
function install(agent) {
  const undici = new UndiciHook(agent);
  undici.install();
  const sockets = new WebSocketHook(agent);
  undici.upgrade = (held) => sockets.takeDispatch(held);
  const undo = [
    keyFetch(agent),
    agent.contexts.hookServers(),
    hookIntervals(agent.contexts),
    hookQueues(agent.contexts),
    http.install(agent, (held) => sockets.takeRequest(held)),
    sockets.install(),
    watchHttp2(agent),
    carryMessages(agent.contexts),
    onModule(UNDICI, (exports) => undici.hookModule(exports)),
    () => undici.uninstall(),
  ];
  return () => {
    for (const act of undo) act();
  };
}

module.exports = { attach, attachNow, refuseAll };
