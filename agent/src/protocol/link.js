"use strict";

const { setTimeout, clearTimeout, setImmediate, clearImmediate } = require("node:timers");
const { performance } = require("node:perf_hooks");
const net = require("node:net");
const tls = require("node:tls");
const { WebSocket } = require("ws");
const { TrafficMockError } = require("./errors.js");
const { startDeadline } = require("./deadline.js");
const { MAX_MESSAGE_BYTES, PROTOCOL_VERSION } = require("./facts.js");

/** The time limit for the answer to `hello`; ms. */
const HANDSHAKE_MS = 1900;
/** The time from a lost link to the next attempt; ms, doubled each time up to the second value. */
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5000;

const now = performance.now.bind(performance);

/** The beginning of a ping, in which the proxy writes the type first. */
const PING = /^\{\s*"type"\s*:\s*"ping"/;

/**
 * @typedef {object} Options
 * @property {string} proxyUrl
 * @property {{ role: string, features: readonly string[], [key: string]: unknown }} hello the fields of `hello`:
 *   `role`, `features`, `clientId`, `token` …
 * @property {readonly string[]} [requires] the features that the proxy must have; by default all of `hello`
 * @property {<T>(isSecure: boolean, act: () => T) => T} open calls its second argument, which opens the
 *   connection with `http.request` or `https.request`, so that it is not intercepted
 */

/**
 * The connection to the proxy: handshake, heartbeat, reconnection with backoff.
 * Its timers never keep the process alive; its socket does between `hold` and `release`.
 */
class Link {
  /**
   * @param {Options} options
   * @param {{ up(hello: any): void, message(text: string): void, down(error: Error): void }} owner called after the
   *   handshake, with each message as JSON text except pings, and after a failed or lost connection
   */
  constructor({ proxyUrl, hello, requires = hello.features, open }, owner) {
    this.proxyUrl = proxyUrl;
    this.greeting = hello;
    this.required = requires;
    this.openSocket = open;
    this.owner = owner;
    this.retryMs = FIRST_RETRY_MS;
    this.closed = false;
    /** Whether the connection keeps the process alive. */
    this.isHeld = false;
    /** @type {import("node:net").Socket | undefined} the TCP or TLS connection of `socket` */
    this.transport = undefined;
    /** @type {WebSocket | undefined} */
    this.socket = undefined;
    /** Sends what was written in this turn of the event loop. @type {NodeJS.Immediate | undefined} */
    this.flushing = undefined;
    /** The pause before the next attempt; none while one is under way. @type {NodeJS.Timeout | undefined} */
    this.retry = undefined;
    /** When the last attempt failed, or the connection was lost. */
    this.failedAt = 0;
    /** Whether the proxy refused the last attempt. */
    this.isRefused = false;
  }

  /** Open the connection; `owner` is called with its result. */
  open() {
    clearTimeout(this.retry);
    this.retry = undefined;
    this.isRefused = false;
    const url = new URL("/ws", this.proxyUrl);
    url.protocol = /^(https|wss):$/.test(url.protocol) ? "wss:" : "ws:";
    const connect = /** @type {any} */ (url.protocol === "wss:" ? tls.connect : net.connect);
    const socket = this.openSocket(
      url.protocol === "wss:",
      () =>
        new WebSocket(url, {
          perMessageDeflate: false,
          maxPayload: MAX_MESSAGE_BYTES,
          createConnection: (/** @type {any} */ options) => this.carry(connect({ ...options, path: undefined })),
        }),
    );
    this.socket = socket;
    this.listen(socket);
  }

  /**
   * @param {import("node:net").Socket} transport
   * @returns {import("node:net").Socket}
   */
  carry(transport) {
    this.transport = transport;
    return this.isHeld ? transport : transport.unref();
  }

  /** Let the connection keep the process alive. */
  hold() {
    this.isHeld = true;
    this.transport?.ref();
  }

  /** The counterpart of `hold`. */
  release() {
    this.isHeld = false;
    this.transport?.unref();
  }

  /** @param {WebSocket} socket */
  listen(socket) {
    /** @type {Error | undefined} */
    let reason;
    let isUp = false;
    const clearDeadline = startDeadline(HANDSHAKE_MS, () => {
      reason = new TrafficMockError(
        "timeout",
        `The trafficmock proxy at ${this.proxyUrl} did not answer within ${HANDSHAKE_MS} ms.`,
      );
      socket.terminate();
    });
    socket.on("open", () => this.hello());
    socket.on("message", (data) => {
      const text = data.toString();
      if (isUp) return this.receive(text);
      const message = parse(text);
      if (message?.type === "ping") return this.send({ type: "pong", at: message.at });
      clearDeadline();
      if (
        message?.type === "hello:ok" &&
        message.protocolVersion === PROTOCOL_VERSION &&
        !this.lacking(message).length
      ) {
        isUp = true;
        this.retryMs = FIRST_RETRY_MS;
        return this.owner.up(message);
      }
      this.isRefused = true;
      reason ??= this.refusal(message);
      // Not close(): that would wait for the proxy's close frame.
      socket.terminate();
    });
    socket.on("error", (error) => {
      reason ??= this.failure(error, isUp);
    });
    socket.on("close", () => {
      clearDeadline();
      if (this.closed) return;
      this.again();
      this.owner.down(reason ?? this.failure(undefined, isUp));
    });
  }

  hello() {
    this.send({ type: "hello", protocolVersion: PROTOCOL_VERSION, ...this.greeting });
  }

  /** @param {string} text */
  receive(text) {
    if (!PING.test(text)) return this.owner.message(text);
    const ping = parse(text);
    if (ping) this.send({ type: "pong", at: ping.at });
  }

  /** @param {object} message */
  send(message) {
    this.sendText(JSON.stringify(message));
  }

  /** @param {string} text a message as JSON; dropped if there is no open connection */
  sendText(text) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    this.gather();
    this.socket.send(text);
  }

  /** Write the messages of this turn of the event loop at once: each call of the system costs as much as making a message. */
  gather() {
    const { transport } = this;
    if (!transport || this.flushing) return;
    transport.cork();
    this.flushing = setImmediate(() => this.flush());
  }

  /** Send what was written in this turn now. */
  flush() {
    if (!this.flushing) return;
    clearImmediate(this.flushing);
    this.flushing = undefined;
    this.transport?.uncork();
  }

  /**
   * @param {number} most the limit of the bytes that wait to be sent
   * @returns {boolean} whether the connection is open and within the limit
   */
  isFree(most) {
    const { socket } = this;
    return socket?.readyState === WebSocket.OPEN && socket.bufferedAmount <= most;
  }

  /** Connect again after a pause, which doubles each time. */
  again() {
    this.failedAt = now();
    this.retry = setTimeout(() => this.open(), this.retryMs).unref();
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
  }

  /**
   * End the pause before the next attempt, unless the last one has only just failed, or was refused.
   * @returns {boolean} whether an attempt is under way
   */
  hasten() {
    if (this.retry && !this.isRefused && now() - this.failedAt >= FIRST_RETRY_MS) this.open();
    // A link that was never opened has no proxy to come to: the settings are wrong.
    return this.socket !== undefined && !this.closed && this.retry === undefined;
  }

  close() {
    this.closed = true;
    clearTimeout(this.retry);
    this.socket?.close(1000);
    // The process may end in this turn.
    this.flush();
  }

  /** Close the connection without a closing handshake, so that the proxy treats it as lost. */
  drop() {
    this.closed = true;
    clearTimeout(this.retry);
    this.socket?.terminate();
  }

  /** @param {any} message that came in the place of a valid `hello:ok` */
  refusal(message) {
    const who = this.greeting.role === "node" ? "agent" : "test worker";
    const isOther = message?.type === "hello:ok";
    if (isOther && message.protocolVersion === PROTOCOL_VERSION) return this.otherProxy(message, who);
    const code = isOther
      ? "protocol_mismatch"
      : message?.type === "hello:error" && message.code
        ? String(message.code)
        : "invalid_hello";
    const said = isOther
      ? `it speaks protocol ${message.protocolVersion}, this ${who} ${PROTOCOL_VERSION}`
      : (message?.message ?? "it answered the handshake with something else than hello:ok");
    const help = code === "unauthorized" ? " (TRAFFICMOCK_TOKEN, or the option token)" : "";
    return new TrafficMockError(code, `The trafficmock proxy at ${this.proxyUrl} refused this ${who}: ${said}${help}`);
  }

  /**
   * @param {any} hello the proxy's `hello:ok`
   * @returns {string[]} the required features that the proxy does not have
   */
  lacking({ features }) {
    return this.required.filter((name) => !Array.isArray(features) || !features.includes(name));
  }

  /**
   * @param {any} hello the `hello:ok` of another proxy, or of an older trafficmock
   * @param {string} who
   */
  otherProxy(hello, who) {
    return new TrafficMockError(
      "protocol_mismatch",
      `What answers at ${this.proxyUrl} is another proxy than trafficmock, or an older one (version ` +
        `${hello.packageVersion}): it lacks ${this.lacking(hello).join(", ")}, which this ${who} needs. Start trafficmock ` +
        `${this.greeting.packageVersion} there ("trafficmock serve").`,
    );
  }

  /**
   * @param {Error | undefined} cause
   * @param {boolean} wasUp
   */
  failure(cause, wasUp) {
    const { proxyUrl } = this;
    const why = cause ? `: ${cause.message || /** @type {any} */ (cause).code}` : "";
    return wasUp
      ? new TrafficMockError("disconnected", `Lost connection to the trafficmock proxy at ${proxyUrl}${why}.`, {
          cause,
        })
      : new TrafficMockError(
          "unreachable",
          `Failed to connect to the trafficmock proxy at ${proxyUrl}${why}. Is it running ("trafficmock serve")?`,
          { cause },
        );
  }
}

/**
 * @param {string} text
 * @returns {any} `undefined` if the text is not JSON
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    // The proxy writes JSON; anything else is ignored.
    return undefined;
  }
}

module.exports = { Link, parse };
