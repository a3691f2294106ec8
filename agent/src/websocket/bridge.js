"use strict";

const { WebSocket } = require("ws");
const { newId } = require("../protocol/ids.js");
const { TrafficMockError } = require("../protocol/errors.js");
const { contextToWire } = require("../protocol/messages.js");
const { bypass } = require("../bypass.js");
const { openApplicationSide } = require("./application-side.js");
const { scope } = require("../process/scope.js");

/**
 * The handshake of a client library's WebSocket, with the ways to finish it. Each of
 * the three functions is called at most once.
 *
 * @typedef {object} Opening
 * @property {URL} url with the scheme ws or wss
 * @property {string[]} protocols
 * @property {Record<string, string>} headers of the handshake, lower-case
 * @property {any} options TLS options for a connection of the agent
 * @property {(outbound: (pairs: import('../protocol/headers.js').Pairs) => import('../protocol/headers.js').Pairs) => void} passthrough
 * @property {(end: import('./duplex-pair.js').End) => void} accept continue with `end`, from which the response is read
 * @property {(error: Error) => void} fail
 */

const ABNORMAL = 1006;
const NO_STATUS = 1005;
/** Headers of a handshake that belong to that one connection. */
const OWN_HEADERS = new Set([
  "connection",
  "upgrade",
  "host",
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-protocol",
  "sec-websocket-extensions",
]);

/**
 * A WebSocket of the application: held until the decision, then mocked,
 * relayed or passed through (protocol 3). The application keeps its own WebSocket
 * class, connected to the agent by a connection within the process, so that
 * this class emits all events.
 */
class Bridge {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {Opening} opening
   */
  constructor(agent, opening) {
    this.agent = agent;
    this.opening = opening;
    /** Calls a function in the asynchronous context of the handshake. @type {<R>(act: () => R) => R} */
    this.inScope = scope();
    this.context = agent.contexts.current();
    this.id = newId();
    this.isHeld = true;
    this.isOver = false;
    /** @type {WebSocket | undefined} */
    this.page = undefined;
    /** @type {WebSocket | undefined} */
    this.server = undefined;
    /** @type {[string | Buffer, boolean][]} */
    this.forServer = [];
    this.saidClosed = new Set();
    /** The close frame that the application was sent. @type {{ code: number, reason: string } | undefined} */
    this.pageClosedWith = undefined;
  }

  start() {
    this.agent.keepAlive.hold();
    this.agent.need();
    this.agent.waiters.enter(this.id, this, () =>
      this.agent.send({
        type: "ws:connection",
        socketId: this.id,
        url: this.opening.url.href,
        protocols: this.opening.protocols,
        clientId: this.agent.clientId,
        ...contextToWire(this.context),
      }),
    );
  }

  /** @param {any} message about this WebSocket */
  receive(message) {
    const act = ACTS.get(message.type);
    if (!act || this.isOver) return;
    try {
      act(this, message);
    } catch (error) {
      // A message of the proxy must never end the application.
      this.fail(
        new TrafficMockError(
          "websocket",
          `The ${message.type} cannot be carried out: ${/** @type {Error} */ (error).message}`,
          { cause: error },
        ),
      );
    }
  }

  /** @param {Error} error why no decision will come */
  lost(error) {
    if (this.isHeld && this.agent.state === "stopped") return this.passthrough();
    this.fail(error);
  }

  /** Report that the application gave the handshake up. */
  cancel() {
    if (this.isOver) return;
    this.say("ws:closePage", { code: ABNORMAL, wasClean: false });
    this.end();
  }

  passthrough() {
    if (!this.isHeld) return;
    this.end();
    this.opening.passthrough((pairs) => this.outbound(pairs));
  }

  /**
   * @param {import('../protocol/headers.js').Pairs} pairs of the handshake
   * @returns {import('../protocol/headers.js').Pairs} the headers to send, with or without the context
   */
  outbound(pairs) {
    return this.agent.contexts.outbound(this.opening.url, pairs, this.context);
  }

  /** @param {Error} error */
  fail(error) {
    if (this.isOver) return;
    if (this.isHeld) this.opening.fail(error);
    this.say("ws:closePage", { code: ABNORMAL, wasClean: false });
    this.end();
  }

  /** Close both sides, and stop waiting for messages. */
  end() {
    if (this.isOver) return;
    this.isOver = true;
    this.isHeld = false;
    this.page?.terminate();
    this.server?.terminate();
    this.agent.waiters.leave(this.id);
    this.agent.keepAlive.release();
  }

  /** @param {string | undefined} protocol that the server selected; by default the first one that the application offered */
  accept(protocol) {
    if (!this.isHeld) return;
    this.isHeld = false;
    const { opening } = this;
    const { page, end } = openApplicationSide(opening, protocol === undefined ? opening.protocols[0] : protocol);
    this.page = page;
    page.on("message", (data, isBinary) => this.frame("ws:messageFromPage", data, isBinary));
    page.on("error", () => {});
    page.on("close", (code, reason) => {
      this.say("ws:closePage", closing(code, this.reasonOf(code, reason.toString())));
      if (!this.server || this.server.readyState === WebSocket.CLOSED) this.end();
      else if (code === ABNORMAL) this.server.terminate();
    });
    opening.accept(end);
  }

  connect() {
    if (this.server) return;
    const { url, protocols, headers, options } = this.opening;
    const pairs = Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name));
    const own = Object.fromEntries(this.outbound(pairs));
    const server = (this.server = bypass(
      () => new WebSocket(url, protocols, { ...options, headers: own, perMessageDeflate: false }),
    ));
    server.on("open", () => {
      this.accept(server.protocol);
      for (const [data, isBinary] of this.forServer.splice(0)) server.send(data, { binary: isBinary });
    });
    server.on("message", (data, isBinary) => this.frame("ws:messageFromServer", data, isBinary));
    let error = new TrafficMockError("websocket", `The WebSocket ${url.href} could not be opened.`);
    server.on("error", (cause) => {
      error = new TrafficMockError("websocket", `The WebSocket ${url.href} could not be opened: ${cause.message}`, {
        cause,
      });
    });
    server.on("close", (code, reason) => {
      this.say("ws:closeServer", closing(code, reason.toString()));
      if (this.isHeld) this.fail(error);
      else if (!this.page || this.page.readyState === WebSocket.CLOSED) this.end();
    });
  }

  /**
   * @param {any} message
   */
  toServer({ data, isBase64 }) {
    const { server } = this;
    const frame = isBase64 ? Buffer.from(data, "base64") : data;
    if (server?.readyState === WebSocket.OPEN) server.send(frame, { binary: isBase64 });
    else if (server?.readyState === WebSocket.CONNECTING) this.forServer.push([frame, isBase64]);
  }

  /** @param {any} message */
  toPage({ data, isBase64 }) {
    this.accept(undefined);
    if (this.page?.readyState === WebSocket.OPEN) {
      this.page.send(isBase64 ? Buffer.from(data, "base64") : data, { binary: isBase64 });
    }
  }

  /** @param {any} message */
  closePage(message) {
    if (message.wasClean === false && !message.code) {
      return this.fail(new TrafficMockError("websocket", "The mock closed this WebSocket before it was open."));
    }
    // A close frame can only be sent on an open connection.
    this.accept(undefined);
    this.pageClosedWith = close(this.page, message);
  }

  /**
   * Restore the reason of a close: undici answers a close frame without the reason.
   * @param {number} code of the application's close frame
   * @param {string} reason of that frame
   * @returns {string} the reason that the application was sent, if the frame answers that one
   */
  reasonOf(code, reason) {
    return reason === "" && this.pageClosedWith?.code === code ? this.pageClosedWith.reason : reason;
  }

  /** @param {any} message */
  closeServer(message) {
    if (this.server) close(this.server, message);
    else this.say("ws:closeServer", { code: message.code, reason: message.reason, wasClean: message.wasClean });
  }

  /**
   * @param {string} type
   * @param {import('ws').RawData} data
   * @param {boolean} isBinary
   */
  frame(type, data, isBinary) {
    const bytes = /** @type {Buffer} */ (data);
    this.agent.send({
      type,
      socketId: this.id,
      data: bytes.toString(isBinary ? "base64" : "utf8"),
      isBase64: isBinary,
    });
  }

  /**
   * Report the close of a side, once.
   * @param {string} type
   * @param {object} how
   */
  say(type, how) {
    if (this.saidClosed.has(type)) return;
    this.saidClosed.add(type);
    this.agent.send({ type, socketId: this.id, ...how });
  }
}

/** @type {Map<string, (bridge: Bridge, message: any) => void>} */
const ACTS = new Map(
  Object.entries({
    "ws:passthrough": (bridge) => bridge.passthrough(),
    "ws:error": (bridge, { code, message, matches }) =>
      bridge.fail(new TrafficMockError(String(code), String(message), { matches })),
    "ws:connect": (bridge) => bridge.connect(),
    "ws:ensureOpened": (bridge) => bridge.accept(undefined),
    "ws:sendToPage": (bridge, message) => bridge.toPage(message),
    "ws:sendToServer": (bridge, message) => bridge.toServer(message),
    "ws:closePage": (bridge, message) => bridge.closePage(message),
    "ws:closeServer": (bridge, message) => bridge.closeServer(message),
  }),
);

/**
 * @param {number} code
 * @param {string} reason
 */
function closing(code, reason) {
  const wasClean = code !== ABNORMAL;
  return { ...(code !== NO_STATUS && { code }), reason, wasClean };
}

/**
 * @param {WebSocket | undefined} socket
 * @param {{ code?: number, reason?: string, wasClean?: boolean }} how
 * @returns {{ code: number, reason: string } | undefined} the close frame, if this call sent one
 */
function close(socket, { code = 1000, reason = "", wasClean }) {
  if (!socket || socket.readyState === WebSocket.CLOSED) return undefined;
  const isOpen = socket.readyState === WebSocket.OPEN;
  try {
    if (wasClean !== false && code !== ABNORMAL && socket.readyState !== WebSocket.CONNECTING) {
      socket.close(code, reason);
      return isOpen ? { code, reason } : undefined;
    }
  } catch {
    // The code is not allowed in a close frame (1005, 5000, ...).
  }
  socket.terminate();
  return undefined;
}

module.exports = { Bridge };
