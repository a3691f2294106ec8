"use strict";

const { setTimeout, clearTimeout, setImmediate } = require("node:timers");
const { onSocket } = require("./on-socket.js");
const { expectsContinue } = require("./continue-gate.js");
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
const { headOf, onHead, rewriteHead } = require("./head.js");
const { EarlySocket } = require("./early-socket.js");
const { Joint } = require("./joined-socket.js");
const { scope } = require("../process/scope.js");

const { nextTick } = process;

/** @returns {Error} that Node makes of a connection that ends without an answer */
const hungUp = () => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });

/** How much a socket reads at once; bytes. */
const READ_BYTES = 64 * 1024;

/**
 * @param {Buffer[]} parts
 * @returns {Buffer[]} one read of all that is short; what is long is not copied
 */
function inReads(parts) {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  return parts.length > 1 && size <= READ_BYTES ? [Buffer.concat(parts, size)] : parts;
}

/**
 * Send the head of an answer together with what is there of the body, as a server does: an application that gives the
 * response up when it comes finds a short one whole.
 * @param {import('./mock-socket.js').MockSocket} socket
 * @param {Buffer} head
 * @param {boolean} [gathers] whether parts wait for the call that sends what is there
 * @returns {(part?: Buffer | null) => boolean} sends a part of the body, its end, or, without an argument, what is there
 */
function withHead(socket, head, gathers = false) {
  let waiting = [head];
  let isOver = false;
  return (part) => {
    if (part) waiting.push(part);
    if (part === null) isOver = true;
    if (gathers && part !== undefined) return true;
    gathers = false;
    let goesOn = true;
    for (const bytes of inReads(waiting)) goesOn = !socket.destroyed && socket.push(bytes);
    waiting = [];
    return isOver ? socket.push(null) : goesOn;
  };
}

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
    this.inScope = scope();
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
    /** Whether the tick in which it was made is not over. */
    this.isNew = true;
    nextTick(() => {
      this.isNew = false;
    });
    this.hasBegun = false;
    /** Whether the application has been told to send the body, for which it asks the server. */
    this.isContinued = false;
    this.idleMs = 0;
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined;
    this.writes = new HeldWrites(req, this);
    const hangUp = (/** @type {Error | undefined} */ error) => this.hangUp(error);
    this.early = new EarlySocket(req, url, { lost: hangUp, due: () => this.due() }, agent.state === "starting");
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

  /** @returns {boolean} whether a route may want the request: whether it passes is for a test to say */
  get isWanted() {
    const { local, state } = this.agent;
    return local.isReady ? local.asks(this.url.href, this.context) : state === "up";
  }

  /** Do what is due when no decision has come so soon that nobody notices. */
  due() {
    const { req, agent } = this;
    if (this.isWanted) return this.show();
    // What no route may want gets its real socket, as soon as the proxy has said so.
    if (this.exchange || /** @type {any} */ (req)._header) return this.early.wait(() => this.show());
    // The application may wait for its connection before it writes. Or it is not ready to write, and listens to nothing.
    if (req.listenerCount("socket") === 0) return this.early.awaitListener();
    agent.waiters.whenNegotiated(() => {
      if (this.exchange || !this.isHeld) return;
      if (this.isWanted) this.show();
      // What no route may want will pass, so the headers that are set so far do.
      else if (agent.waiters.enterUnannounced(this)) this.announce(true);
    });
  }

  /** Give the application its socket. It connects only if a test answers: if the request passes, the real one does. */
  show() {
    if (!this.isHeld) return;
    const socket = this.early.show();
    if (this.isWanted) socket.open();
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
    if (this.early.socket) nextTick(() => this.early.finish());
  }

  /** @param {Error} [error] with which the application destroyed the request */
  destroy(error) {
    // A request has its socket after its first tick, and tells of it before it ends.
    if (this.isHeld && !this.isNew && !this.early.socket) this.early.show().destroy(error);
    this.cancel();
  }

  /** @param {number} ms of idle time after which a socket would emit `timeout`; 0 for no limit */
  setTimeout(ms) {
    this.idleMs = ms;
    this.armTimeout();
  }

  armTimeout() {
    clearTimeout(this.timer);
    if (this.idleMs > 0 && this.isHeld) this.timer = setTimeout(() => this.idle(), this.idleMs);
  }

  idle() {
    const { socket } = this.early;
    // Its own time limit, which began later, is the same one.
    socket?.touch();
    socket?.emit("timeout");
    this.req.emit("timeout");
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
    const pairs = this.agent.contexts.announced(headOf(req), this.context);
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

  /** Let the application write the whole body, because a test needs it: some write when they are connected. */
  collect() {
    if (!this.upload.isWhole) {
      const socket = this.early.show();
      socket.open();
      if (expectsContinue(this.req)) socket.whenOpen(() => setImmediate(() => this.goOn()));
    }
    this.writes.drain();
  }

  /** Let an application write its body that waits for 100 Continue: it is the test that wants it. */
  goOn() {
    if (!this.isHeld || this.isContinued || this.upload.isWhole) return;
    this.isContinued = true;
    const { req } = this;
    req.emit("continue");
    const version = { httpVersion: "1.1", httpVersionMajor: 1, httpVersionMinor: 1 };
    req.emit("information", { statusCode: 100, statusMessage: "Continue", ...version, headers: {}, rawHeaders: [] });
  }

  /** @returns {boolean} whether the request was held until now */
  letGo() {
    if (!this.isHeld) return false;
    this.isHeld = false;
    this.agent.waiters.leave(this);
    clearTimeout(this.timer);
    this.early.stopWaiting();
    this.writes.detach();
    return true;
  }

  cancel() {
    if (!this.letGo()) return;
    this.exchange?.cancel();
    const { req } = this;
    // Node tells of an aborted request by an error if it has a socket, which it has after its first tick.
    const error = this.isNew || !req.aborted ? undefined : hungUp();
    // A request emits `error` and `close` only with a socket.
    /** @type {any} */ (onSocket).call(req, this.early.take(), error);
  }

  /** @param {Error} [error] with which the application destroyed the mock socket */
  hangUp(error) {
    if (!this.letGo()) return;
    this.exchange?.cancel();
    this.req.destroy(error ?? hungUp());
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
    this.early.joinReal(this.isContinued);
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
    if (!req.socket) onSocket.call(req, this.early.make());
  }

  /**
   * @param {import('../protocol/messages.js').Outgoing} changed
   * @param {import('../exchange/faulty-body.js').BodyWay} [wayBack]
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
    up.on("socket", (real) => socket.follow(real));
    up.on("error", (error) => {
      report?.fail(error);
      socket.failAs(error);
    });
    up.on("information", ({ statusCode, statusMessage, rawHeaders }) => {
      // 100 Continue is sent once, and was sent if a test wanted the body.
      if (statusCode === 100 && this.isContinued) return;
      const pairs = headers.fromRaw(rawHeaders);
      socket.whenOpen(() => socket.push(text.head(statusCode, statusMessage, pairs)));
    });
    up.on("upgrade", (response, real, first) => this.upgraded(response, real, first, socket));
    up.on("response", (response) => {
      const given = headers.fromRaw(response.rawHeaders);
      const pairs = changed.url === this.url.href ? given : rewriteLocation(given, changed.url);
      if (report && wayBack) return this.relay(response, socket, pairs, report, wayBack);
      if (report) upstream.observe(response, report);
      response.on("error", (error) => report?.fail(error));
      const head = text.head(response.statusCode ?? 0, response.statusMessage ?? "", pairs);
      socket.whenOpen(() =>
        upstream.relay(response, socket, withHead(socket, head, true), { method: req.method, pairs }),
      );
    });
    if (report && exchange) this.emitInChain(exchange, report);
  }

  /**
   * Join the application's socket with one whose protocol the server has changed.
   * @param {import('node:http').IncomingMessage} response
   * @param {any} real
   * @param {Buffer} first what has come by the other protocol
   * @param {import('./mock-socket.js').MockSocket} socket
   */
  upgraded({ statusCode = 0, statusMessage = "", rawHeaders }, real, first, socket) {
    const pairs = headers.fromRaw(rawHeaders);
    this.report?.head(statusCode, statusMessage, pairs);
    this.report?.end();
    socket.whenOpen(() => {
      new Joint(socket, real);
      socket.push(Buffer.concat([text.head(statusCode, statusMessage, pairs), first]));
    });
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
   * @param {import('../exchange/faulty-body.js').BodyWay} wayBack
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
    response.on("end", () => body.end(headers.fromRaw(response.rawTrailers)));
    this.answer(socket, body.under(this.req.method, head));
  }

  /** @param {import('../exchange/mock.js').Mock} mock */
  fulfill(mock) {
    if (!this.letGo()) return;
    const socket = this.plug();
    socket.open();
    this.answer(socket, mock);
  }

  /**
   * @param {import('./mock-socket.js').MockSocket} socket
   * @param {import('../exchange/mock.js').Mock} mock
   */
  answer(socket, { status, statusText, pairs, body }) {
    const isChunked = headers.get(pairs, "transfer-encoding") !== undefined;
    const send = withHead(socket, text.head(status, statusText, pairs));
    socket.on("close", () => body.close());
    const reader = {
      data: (/** @type {Buffer} */ chunk) => send(isChunked ? text.chunk(chunk) : chunk),
      end: (/** @type {headers.Pairs} */ trailers) => {
        if (isChunked) send(text.lastChunk(trailers));
        // Without a length, the client would read a 205 until the connection ends.
        else if (headers.get(pairs, "content-length") === undefined) send(null);
        socket.answered();
      },
      fail: (/** @type {Error | undefined} */ reset) => {
        send();
        socket.breakOff(reset);
      },
      malform: () => {
        send(text.NO_CHUNK);
        socket.breakOff();
      },
    };
    socket.whenOpen(() => {
      // A server answers what has arrived.
      setImmediate(() => {
        if (socket.destroyed) return;
        socket.wanted = () => body.more();
        body.flow(reader, true);
        send();
      });
    });
  }

  /** Close the connection without an answer. */
  closeUnanswered() {
    if (!this.letGo()) return;
    const socket = this.plug();
    socket.open();
    socket.whenOpen(() => socket.breakOff());
  }

  /** @returns {import('./mock-socket.js').MockSocket} the socket that the request uses from now on */
  plug() {
    const socket = this.early.take();
    // Node's own agents do so with the sockets that they open.
    if (this.idleMs > 0 && !socket.timeout) socket.setTimeout(this.idleMs);
    onSocket.call(this.req, socket);
    return socket;
  }

  /** @param {Error} error */
  fail(error) {
    if (!this.letGo()) return;
    const socket = this.plug();
    // A connection can be reset only when there is one.
    if (/** @type {any} */ (error).code === "ECONNRESET") socket.open();
    else return void setImmediate(() => socket.refuse(error));
    socket.whenOpen(() => setImmediate(() => socket.destroy(error)));
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
