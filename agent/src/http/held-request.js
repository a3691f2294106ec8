"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");
const { setTimeout, clearTimeout, setImmediate } = require("node:timers");
const { onSocket } = require("./on-socket.js");
const { Exchange } = require("../exchange/exchange.js");
const { Upload } = require("../exchange/upload.js");
const { bufferedBody } = require("./buffered-body.js");
const { SentRequest, inChain } = require("./sent-request.js");
const { HeldWrites, Writes } = require("./writes.js");
const { rewriteLocation } = require("../exchange/location.js");
const { RelayedBody } = require("../exchange/relayed-body.js");
const headers = require("../protocol/headers.js");
const upstream = require("./upstream.js");
const text = require("./text.js");
const { onHead, rewriteHead } = require("./head.js");
const { EarlySocket } = require("./early-socket.js");
const { MockSocket } = require("./mock-socket.js");

const { nextTick } = process;

/**
 * A `ClientRequest` that is held before it gets a socket. Until the decision it writes into
 * its own buffer, as it does while its `http.Agent` has no free connection.
 */
class HeldRequest {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {import('node:http').ClientRequest} req
   * @param {URL} url
   * @param {any} options of the request, also for requests that are sent in its place
   * @param {() => void} release lets the application's own `http.Agent` send it
   * @param {import('../exchange/redirects.js').Chain | undefined} chain of the call that makes the request
   * @param {{ stack?: string } | undefined} callers of the function that makes the request
   */
  constructor(agent, req, url, options, release, chain, callers) {
    this.agent = agent;
    this.req = req;
    this.url = url;
    this.options = options;
    this.release = release;
    this.chain = chain;
    /** Calls a function in the asynchronous context of the request. @type {<R>(act: () => R) => R} */
    this.inScope = AsyncLocalStorage.snapshot();
    this.context = agent.contexts.current();
    this.origin = agent.contexts.originOf(this.context, HeldRequest);
    // What follows a redirect is called by the response.
    this.callers = chain?.leadsTo(url.href) ? chain.callers : callers;
    this.upload = new Upload(agent);
    /** @type {Exchange | undefined} */
    this.exchange = undefined;
    /** @type {import('../exchange/report.js').Report | undefined} */
    this.report = undefined;
    this.isHeld = true;
    this.hasBegun = false;
    this.idleMs = 0;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    this.writes = new HeldWrites(req, this);
    const hangUp = (/** @type {Error | undefined} */ error) => this.hangUp(error);
    this.early = new EarlySocket(req, url.protocol === "https:", hangUp, () => this.early.finish());
    /** The `content-length` of the head, once there is one. @type {number | undefined} */
    this.bodyLength = undefined;
    const { timeout, agent: httpAgent } = /** @type {any} */ (req);
    this.setTimeout(Number(timeout ?? httpAgent?.options?.timeout ?? 0));
    if (req.getHeader("expect")) nextTick(() => this.begin());
    const written = bufferedBody(req);
    if (written.length) {
      this.push(written);
      this.begin();
    }
    if (req.writableEnded) this.end();
  }

  /** @param {Uint8Array} chunk of the body that the application writes */
  push(chunk) {
    this.upload.push(chunk);
    this.armTimeout();
  }

  /** Announce the request when the application has written its head; with the body, if that is complete by then. */
  begin() {
    if (this.hasBegun) return this.seeEnd();
    this.hasBegun = true;
    this.seeEnd();
    // A client that follows a redirect has the whole body, but writes it in parts.
    if (this.chain?.leadsTo(this.url.href)) this.writes.drain();
    this.agent.waiters.whenNegotiated(() => {
      if (this.exchange || !this.isHeld || !this.agent.waiters.enterUnannounced(this)) return;
      setImmediate(() => this.announce(!this.upload.isWhole));
    });
  }

  /** End the body at its declared length: old streams, such as form-data's, never call `end()`. */
  seeEnd() {
    const head = /** @type {any} */ (this.req)._header;
    if (head) this.bodyLength ??= text.declaredLength(head);
    if (this.upload.isWhole || !(this.upload.copy.size >= (this.bodyLength ?? NaN))) return;
    this.upload.end();
  }

  end() {
    this.upload.end();
    this.announce(false);
    nextTick(() => this.early.finish());
  }

  destroy() {
    this.cancel();
  }

  /** @param {number} ms of idle time after which a socket would emit `timeout`; 0 for no limit */
  setTimeout(ms) {
    this.idleMs = ms;
    this.armTimeout();
  }

  armTimeout() {
    clearTimeout(this.timer);
    if (this.idleMs > 0 && this.isHeld) this.timer = setTimeout(() => this.req.emit("timeout"), this.idleMs);
  }

  /**
   * Announce the request to the proxy.
   * @param {boolean} isOpen whether the body is incomplete
   */
  announce(isOpen) {
    if (this.exchange || !this.isHeld) return;
    const { req, url, upload } = this;
    // A hop with the headers of a handler is sent by the agent, which needs the whole body.
    if (isOpen && this.chain?.leadsTo(url.href) && this.chain.isOverridden) {
      upload.onEnd = () => this.announce(false);
      return;
    }
    this.agent.waiters.leave(this);
    const pairs = this.agent.contexts.announced(text.headerLines(/** @type {any} */ (req)._header ?? ""), this.context);
    const from = this.chain?.take(url.href);
    const isUpload = isOpen && !from;
    const body = isOpen ? null : upload.copy.bytes();
    const request = { url: url.href, method: req.method, pairs, body, truncated: isOpen && !isUpload };
    this.exchange = new Exchange(this.agent, request, this, isUpload ? upload : undefined);
    if (from) this.exchange.follow(from);
    else this.exchange.ask();
  }

  /** @param {Error} error why there is no link to announce the request on */
  lost(error) {
    this.fail(error);
  }

  /** Let the application write the whole body, because a test needs it. */
  collect() {
    this.writes.drain();
  }

  /** @returns {boolean} whether the request was held until now */
  letGo() {
    if (!this.isHeld) return false;
    this.isHeld = false;
    this.agent.waiters.leave(this);
    clearTimeout(this.timer);
    clearTimeout(this.early.timer);
    this.writes.detach();
    return true;
  }

  cancel() {
    if (!this.letGo()) return;
    this.exchange?.cancel();
    // A request emits `error` and `close` only with a socket.
    onSocket.call(this.req, this.early.take());
  }
  /** @param {Error} [error] with which the application destroyed the mock socket */
  hangUp(error) {
    if (!this.letGo()) return;
    this.exchange?.cancel();
    this.req.destroy(error ?? Object.assign(new Error("socket hang up"), { code: "ECONNRESET" }));
    onSocket.call(this.req, this.early.take());
  }

  passthrough() {
    if (!this.letGo()) return;
    const exchange = /** @type {Exchange} */ (this.exchange);
    const { upload } = exchange;
    const sent = new SentRequest(this.req, exchange, exchange.report(this.url.href));
    onHead(this.req, () => this.sign());
    void new Writes(this.req, sent);
    upload?.pass(exchange.id);
    this.early.replace();
    try {
      this.release();
    } catch (error) {
      this.failed(/** @type {Error} */ (error));
    }
  }

  /** Correct the context headers of the head. */
  sign() {
    const { agent, req, context } = this;
    if (agent.contexts.isConcerned(/** @type {any} */ (req)._header, context)) {
      rewriteHead(req, (pairs) => agent.contexts.outbound(this.url, pairs, context));
    }
  }

  /** @param {Error} error of the application's own class; without a connection, the request would stay silent */
  failed(error) {
    const { req } = this;
    req.destroy(error);
    // A request emits `error` and `close` only with a socket.
    if (!req.socket) onSocket.call(req, new MockSocket(this.url.protocol === "https:"));
  }

  /**
   * @param {import('../protocol/messages.js').Outgoing} changed
   * @param {import('../exchange/relayed-body.js').WayBack} [wayBack]
   */
  resume(changed, wayBack) {
    // A request that was announced without its body can only be sent unchanged.
    if (changed.truncated) return this.passthrough();
    if (!this.letGo()) return;
    const { req, exchange } = this;
    const report = (this.report = exchange?.report(changed.url));
    const socket = this.plug();
    const up = this.open(changed, socket);
    if (!up) return;
    socket.on("close", () => {
      up.destroy();
      report?.cut();
    });
    up.on("error", (error) => {
      report?.fail(error);
      socket.destroy(error);
    });
    up.on("information", ({ statusCode, statusMessage, rawHeaders }) => {
      // 100 Continue is sent once, and was sent if a test wanted the body.
      if (statusCode === 100 && this.writes.isDraining) return;
      socket.push(text.head(statusCode, statusMessage, headers.fromRaw(rawHeaders)));
    });
    up.on("response", (response) => {
      const given = headers.fromRaw(response.rawHeaders);
      const pairs = changed.url === this.url.href ? given : rewriteLocation(given, changed.url);
      if (report && wayBack) return this.relay(response, socket, pairs, report, wayBack);
      if (report) upstream.observe(response, report);
      response.on("error", (error) => report?.fail(error));
      upstream.relay(response, socket, req.method, pairs);
    });
    if (report && exchange) this.emitInChain(exchange, report);
  }

  /**
   * @param {import('../protocol/messages.js').Outgoing} changed
   * @param {import('./mock-socket.js').MockSocket} socket
   */
  open(changed, socket) {
    try {
      return upstream.open(this, changed);
    } catch (error) {
      // Node refuses to send it: an invalid method or header, or another scheme.
      this.report?.fail(error);
      socket.destroy(/** @type {Error} */ (error));
      return undefined;
    }
  }

  /**
   * @param {Exchange} exchange
   * @param {import('../exchange/report.js').Report} report
   */
  emitInChain(exchange, report) {
    const { req } = this;
    const { emit } = req;
    const own = /** @type {any} */ (req);
    own.emit = function (/** @type {string} */ event, /** @type {any[]} */ ...args) {
      if (event !== "response") return emit.call(req, event, ...args);
      return inChain(exchange, report, () => emit.call(req, event, ...args));
    };
  }

  /**
   * Answer by a real answer that breaks, or comes at a rate.
   * @param {import('node:http').IncomingMessage} response
   * @param {import('./mock-socket.js').MockSocket} socket
   * @param {headers.Pairs} pairs the response's headers
   * @param {import('../exchange/report.js').Report} report
   * @param {import('../exchange/relayed-body.js').WayBack} wayBack
   */
  relay(response, socket, pairs, report, wayBack) {
    const origin = {
      pause: () => response.pause(),
      resume: () => response.resume(),
      stop: () => response.destroy(),
    };
    const body = new RelayedBody(wayBack, origin, report);
    response.on("error", (error) => body.fail(error));
    if (body.isUnanswered) {
      body.breakOff();
      if (body.reset) this.req.destroy(body.reset);
      else socket.breakOff();
      return;
    }
    const head = { status: response.statusCode ?? 0, statusText: response.statusMessage ?? "", pairs };
    report.head(head.status, head.statusText, headers.fromRaw(response.rawHeaders));
    response.on("data", (data) => body.push(data));
    response.on("end", () => body.end());
    this.answer(socket, body.under(this.req.method, head));
  }

  /** @param {import('../exchange/mock.js').Mock} mock */
  fulfill(mock) {
    if (this.letGo()) this.answer(this.plug(), mock);
  }

  /**
   * @param {import('./mock-socket.js').MockSocket} socket
   * @param {import('../exchange/mock.js').Mock} mock
   */
  answer(socket, { status, statusText, pairs, body }) {
    const isChunked = headers.get(pairs, "transfer-encoding") !== undefined;
    socket.push(text.head(status, statusText, pairs));
    socket.wanted = () => body.more();
    socket.on("close", () => body.close());
    const reader = {
      data: (/** @type {Buffer} */ chunk) => socket.push(isChunked ? text.chunk(chunk) : chunk),
      end: () => {
        if (isChunked) socket.push(text.LAST_CHUNK);
        // Without a length, the client would read a 205 until the connection ends.
        else if (headers.get(pairs, "content-length") === undefined) socket.push(null);
      },
      fail: (/** @type {Error | undefined} */ reset) => socket.breakOff(reset),
      malform: () => {
        socket.push(text.NO_CHUNK);
        socket.breakOff();
      },
    };
    body.flow(reader, true);
  }

  /** Close the connection without an answer. */
  closeUnanswered() {
    if (this.letGo()) this.plug().breakOff();
  }

  /** @returns {import('./mock-socket.js').MockSocket} the socket that the request uses from now on */
  plug() {
    const socket = this.early.take();
    // Node's own agents do so with the sockets that they open.
    if (this.idleMs > 0 && socket.timeout === 0) socket.setTimeout(this.idleMs);
    onSocket.call(this.req, socket);
    return socket;
  }

  /** @param {Error} error */
  fail(error) {
    if (!this.letGo()) return;
    this.req.destroy(error);
    onSocket.call(this.req, this.early.take());
  }

  /**
   * @param {import('../protocol/messages.js').Outgoing} wanted
   * @param {AbortSignal} signal
   */
  perform(wanted, signal) {
    return upstream.perform(this, wanted, signal);
  }
}

module.exports = { HeldRequest };
