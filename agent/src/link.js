"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const net = require("node:net");
const tls = require("node:tls");
const { WebSocket } = require("ws");
const { TrafficMockError } = require("./errors.js");
const { patience } = require("./patience.js");
const { withOwnRequest } = require("./http/own-request.js");
const { commandLine } = require("./command-line.js");
const { version } = require("../package.json");

/** What this agent speaks beyond protocol 3. */
const FEATURES = ["headers-list", "stream"];
const PROTOCOL_VERSION = 3;
const HANDSHAKE_MS = 1900;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5000;
/** Protocol 3's largest frame; bytes. */
const MAX_FRAME_BYTES = 104857600;

/**
 * The connection to the proxy: handshake, heartbeat, reconnecting with backoff.
 * Its socket and timers never keep the process alive.
 */
class Link {
  /**
   * @param {import('./settings.js').Settings} settings
   * @param {{ up(hello: any): void, message(message: any): void, down(error: Error): void }} owner
   */
  constructor(settings, owner) {
    this.settings = settings;
    this.owner = owner;
    this.retryMs = FIRST_RETRY_MS;
    this.closed = false;
    /** @type {WebSocket | undefined} */
    this.socket = undefined;
    /** @type {NodeJS.Timeout | undefined} */
    this.retry = undefined;
  }

  /** Open the connection; `owner` hears what became of it. */
  open() {
    const url = new URL("/ws", this.settings.proxyUrl);
    url.protocol = /^(https|wss):$/.test(url.protocol) ? "wss:" : "ws:";
    const connect = /** @type {any} */ (url.protocol === "wss:" ? tls.connect : net.connect);
    const socket = withOwnRequest(
      url.protocol === "wss:",
      () =>
        new WebSocket(url, {
          perMessageDeflate: false,
          maxPayload: MAX_FRAME_BYTES,
          createConnection: (/** @type {any} */ options) => connect({ ...options, path: undefined }).unref(),
        }),
    );
    this.socket = socket;
    this.attend(socket);
  }

  /** @param {WebSocket} socket */
  attend(socket) {
    /** @type {Error | undefined} */
    let reason;
    let isUp = false;
    const endPatience = patience(HANDSHAKE_MS, () => {
      reason = new TrafficMockError(
        "timeout",
        `The trafficmock proxy at ${this.settings.proxyUrl} did not answer within ${HANDSHAKE_MS} ms.`,
      );
      socket.terminate();
    });
    socket.on("open", () => this.hello());
    socket.on("message", (data) => {
      const message = parse(data);
      if (isUp) return this.receive(message);
      if (message?.type === "ping") return this.send({ type: "pong", at: message.at });
      endPatience();
      if (message?.type === "hello:ok" && message.protocolVersion === PROTOCOL_VERSION) {
        isUp = true;
        this.retryMs = FIRST_RETRY_MS;
        return this.owner.up(message);
      }
      reason ??= this.refusal(message);
      // Not close(): that waits for an answer, and this proxy has given its own.
      socket.terminate();
    });
    socket.on("error", (error) => {
      reason ??= this.failure(error, isUp);
    });
    socket.on("close", () => {
      endPatience();
      if (this.closed) return;
      this.again();
      this.owner.down(reason ?? this.failure(undefined, isUp));
    });
  }

  hello() {
    const { token, clientId } = this.settings;
    this.send({
      type: "hello",
      protocolVersion: PROTOCOL_VERSION,
      packageVersion: version,
      role: "node",
      clientId,
      ...(token && { token }),
      pid: process.pid,
      command: commandLine(process.argv),
      features: FEATURES,
    });
  }

  /** @param {any} message */
  receive(message) {
    if (message?.type === "ping") this.send({ type: "pong", at: message.at });
    else if (message) this.owner.message(message);
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Try once more, later each time. */
  again() {
    this.retry = setTimeout(() => this.open(), this.retryMs).unref();
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS);
  }

  close() {
    this.closed = true;
    clearTimeout(this.retry);
    this.socket?.close();
  }

  /** @param {any} message what came instead of `hello:ok` */
  refusal(message) {
    const isOther = message?.type === "hello:ok";
    const code = isOther
      ? "protocol_mismatch"
      : message?.type === "hello:error" && message.code
        ? String(message.code)
        : "invalid_hello";
    const said = isOther
      ? `it speaks protocol ${message.protocolVersion}, this agent ${PROTOCOL_VERSION}`
      : (message?.message ?? "it answered the handshake with something else than hello:ok");
    const help = code === "unauthorized" ? " (TRAFFICMOCK_TOKEN, or the option token)" : "";
    return new TrafficMockError(
      code,
      `The trafficmock proxy at ${this.settings.proxyUrl} refused this agent: ${said}${help}`,
    );
  }

  /**
   * @param {Error | undefined} cause
   * @param {boolean} wasUp
   */
  failure(cause, wasUp) {
    const { proxyUrl } = this.settings;
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

/** @param {import('ws').RawData} data */
function parse(data) {
  try {
    return JSON.parse(data.toString());
  } catch {
    // The proxy writes JSON; what is none says nothing to us.
    return undefined;
  }
}

module.exports = { Link };
