"use strict";

const { errorMonitor } = require("node:events");
const { serializeError } = require("../protocol/errors.js");
const { newId } = require("../protocol/ids.js");
const { contextToWire, requestToWire, responseToWire } = require("../protocol/messages.js");

/** Kept, because tests of applications replace the clock. */
const { now } = Date;

/** How often a session is told of again that is used without a context: another test may run by then; ms. */
const AGAIN_MS = 1000;

/**
 * Tell the proxy of a session of HTTP/2 that nobody holds: now, and when it is first used in another context. The history
 * has it, and the test that it belongs to is warned.
 * @param {import('../agent.js').Agent} agent
 * @param {any} session
 * @param {URL} url the origin that it leads to
 * @param {boolean} isTold whether the proxy has been asked about it, in the context of this moment
 */
function tellOfSession(agent, session, url, isTold) {
  /** When it was told of, by the id of the context. @type {Map<string | undefined, number>} */
  const told = new Map();
  const tell = () => {
    const context = agent.contexts.current();
    const id = context?.isPast ? undefined : context?.id;
    const last = told.get(id);
    if (last !== undefined && (id !== undefined || now() - last < AGAIN_MS)) return;
    told.set(id, now());
    if (isTold) {
      isTold = false;
      return;
    }
    const { links } = agent;
    const requestId = newId();
    agent.send({ ...connectMessage(agent, requestId, url), ...contextToWire(context) }, links);
    reportSession(agent, requestId, session, url, links);
  };
  tell();
  const { request } = session;
  /** @this {any} */
  const value = function (/** @type {any[]} */ ...args) {
    tell();
    return request.apply(this, args);
  };
  Object.defineProperty(session, "request", { value, writable: true, configurable: true, enumerable: false });
}

/**
 * Tell the proxy of a tunnel that the application opens by itself, and that nobody holds.
 * @param {import('../agent.js').Agent} agent
 * @param {URL} url of its target
 */
function tellOfTunnel(agent, url) {
  const requestId = newId();
  agent.send({ ...connectMessage(agent, requestId, url), ...contextToWire(agent.contexts.current()) });
  agent.send({ type: "request:response", requestId, ok: true, response: responseToWire(connectedAnswer(url)) });
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {string} requestId
 * @param {URL} url
 */
const connectMessage = (agent, requestId, url) => ({
  type: "request:observe",
  requestId,
  clientId: agent.clientId,
  request: requestToWire({ url: `${url.origin}/`, method: "CONNECT", pairs: [], body: null }),
});

/**
 * Report that a session is connected, or why it is not.
 * @param {import('../agent.js').Agent} agent
 * @param {string} requestId
 * @param {any} session
 * @param {URL} url
 * @param {number} links the number of the link on which it was told of
 */
function reportSession(agent, requestId, session, url, links) {
  let isOver = false;
  const report = (/** @type {object} */ end) => {
    if (!isOver) agent.send({ type: "request:response", requestId, ...end }, links);
    isOver = true;
  };
  const failed = (/** @type {unknown} */ error) => report({ ok: false, error: serializeError(error) });
  const connected = () => report({ ok: true, response: responseToWire(connectedAnswer(url)) });
  if (!session.connecting && !session.destroyed) return connected();
  session.once("connect", connected).once(errorMonitor, failed);
  session.once("close", () => failed(new Error("It was closed before it was connected.")));
}

/** @param {URL} url */
const connectedAnswer = (url) => ({ status: 200, statusText: "", pairs: [], body: Buffer.alloc(0), url: url.href });

module.exports = { connectMessage, connectedAnswer, reportSession, tellOfSession, tellOfTunnel };
