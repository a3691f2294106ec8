"use strict";

const { setTimeout, clearTimeout } = require("node:timers");
const { Exchange } = require("../exchange/exchange.js");
const { Chain, isRedirect } = require("../exchange/redirects.js");
const { rewriteLocation } = require("../exchange/location.js");
const { RelayedBody } = require("../exchange/relayed-body.js");
const { bypass } = require("../bypass.js");
const headers = require("../protocol/headers.js");
const { isBodiless } = require("../exchange/report.js");
const { BODY_LIMITS } = require("../protocol/facts.js");
const { Upload } = require("../exchange/upload.js");
const { RelayedAnswer } = require("./relayed-answer.js");
const { readNow, isBlob, isEnded, encodeForm, isForm } = require("./body.js");
const { tracing } = require("../contexts/test-contexts.js");
const { cleanLast } = require("./traced-headers.js");
const { Source } = require("./source.js");
const { pairsOf, likeGiven, optionsFor, outboundOptions, dispatcherFor } = require("./dispatch-options.js");
const { lengthError, mayBeRefused, refusalOf } = require("./refused-options.js");
const { TimeLimit, limitOf } = require("./time-limit.js");
const {
  bodyTimeoutError,
  closedError,
  malformedError,
  headersTimeoutError,
  requestAbortedError,
} = require("./undici-errors.js");
const {
  Controller,
  LegacyObserver,
  ModernObserver,
  Collector,
  connect,
  serve,
  giveHead,
  giveSent,
  fail,
  isModern,
} = require("./handlers.js");
const { contextOf } = require("./dispatchers.js");
const { queueOf } = require("./busy.js");
const { admit, hold } = require("./closing.js");
const { scope } = require("../process/scope.js");

/**
 * The time that a request waits for its decision before the application's handler is told of a connection, by which it
 * gets the function to abort; ms. Most requests pass sooner, and their handlers are told of the real one.
 */
const CONNECT_MS = 50;
/** The same, while the link to the proxy starts, which takes longer than a decision. */
const STARTING_MS = 500;
/** What a request fails with that has no connection. */
const UNCONNECTED = new Set(["connect", "getaddrinfo"]);

/** Marks options that a hook has seen: dispatchers pass them on to each other. */
const SEEN = Symbol("trafficmock.seen");

/**
 * The chains of redirects by handler: undici's redirect interceptor dispatches the next hop
 * with the handler of the last one. `fetch` dispatches it in the asynchronous context of its call.
 * @type {WeakMap<object, Chain>}
 */
const chainOf = new WeakMap();

/** A dispatch that waits for the proxy's decision, before the dispatcher gets it. */
class HeldDispatch {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {any} dispatcher
   * @param {Function} original its `dispatch`
   * @param {any} opts
   * @param {any} handler
   * @param {URL} url that the application requested
   * @param {boolean} isResolved whether `opts` have an address in the place of its host
   * @param {import('../exchange/redirects.js').Chain | undefined} chain of the call
   */
  constructor(agent, dispatcher, original, opts, handler, url, isResolved, chain) {
    this.agent = agent;
    this.dispatcher = dispatcher;
    this.original = original;
    this.opts = opts;
    this.handler = handler;
    this.url = url;
    this.isResolved = isResolved;
    this.chain = chain;
    /** Calls a function in the asynchronous context of the request. @type {<R>(act: () => R) => R} */
    this.inScope = scope();
    this.context = agent.contexts.current();
    this.origin = agent.contexts.originOf(this.context, HeldDispatch);
    this.callers = chain?.callers;
    /** @type {Exchange | undefined} */
    this.exchange = undefined;
    /** @type {import('../exchange/report.js').Report | undefined} */
    this.report = undefined;
    /** The body, if it is streamed. @type {Source | undefined} */
    this.source = undefined;
    /** The body, if it is in memory. @type {Buffer | null} */
    this.bytes = null;
    /** Whether undici sends the body in chunks, because it does not know its length. */
    this.isChunked = false;
    this.isHeld = true;
    /** Those that the dispatcher would have without the agent. @type {ReturnType<typeof queueOf>} */
    this.queue = queueOf(dispatcher, opts.origin);
    /** Tells the dispatcher that it has the request, or that it has ended. @type {(() => void) | undefined} */
    this.release = undefined;
    /** What the dispatcher said to the request when it got it. @type {boolean | undefined} */
    this.taken = undefined;
    /** Whether the application's handler has been told of a connection. */
    this.isConnected = false;
    /** @type {NodeJS.Timeout | undefined} */
    this.connecting = undefined;
    this.isCollecting = false;
    /** The body of the mock that the handler is getting. @type {import('../exchange/mock-body.js').MockBody | undefined} */
    this.served = undefined;
    /** Of the response's head from the announcement on, then of a mock's body. @type {TimeLimit | undefined} */
    this.timeout = undefined;
    /** @type {((reason: any) => void) | undefined} */
    this.realAbort = undefined;
    this.controller = new Controller((reason) => this.aborted(reason));
  }

  /** @returns {boolean} whether the dispatcher takes another request; `false` if it is busy */
  start() {
    const refusal = mayBeRefused(this.opts) && refusalOf(this.dispatcher, this.original, this.marked(this.opts));
    if (refusal) return refusal(this.handler);
    this.queue?.enter();
    this.begin();
    if (this.isHeld || this.served) this.hold();
    return this.taken ?? this.queue?.takes() ?? true;
  }

  /** Let `close()` of the dispatcher wait for the request, and `destroy()` fail it. */
  hold() {
    this.release ??= hold(this.dispatcher, this);
  }

  /** @param {Error} error with which the dispatcher was destroyed */
  destroyed(error) {
    this.inScope(() => Controller.prototype.abort.call(this.controller, error));
  }

  /**
   * @param {any} opts
   * @returns {any} the options of a request that is not held again
   */
  marked(opts) {
    return { ...opts, [SEEN]: true };
  }

  begin() {
    const body = readNow(this.opts.body);
    if (body) return this.announce(body);
    this.hold();
    // Nobody reads a body before there is a connection. `fetch` ends the request by `abort` when its body fails.
    this.connect();
    if (this.controller.aborted) return;
    this.agent.waiters.whenNegotiated(() => {
      if (this.agent.waiters.enterUnannounced(this)) {
        this.read().then(
          (read) => this.announce(read),
          (error) => this.fail(error),
        );
      }
    });
  }

  /** Let the application abort the request if its decision is slow. */
  beginConnecting() {
    const ms = this.agent.state === "starting" ? STARTING_MS : CONNECT_MS;
    this.connecting ??= setTimeout(() => this.inScope(() => this.connect()), ms).unref();
  }

  /** Tell the application's handler of a connection, unless it has been told. As with undici, it may abort or throw then. */
  connect() {
    clearTimeout(this.connecting);
    if (this.isConnected) return;
    this.isConnected = true;
    try {
      connect(this.handler, this.controller, contextOf(this.dispatcher));
    } catch (error) {
      Controller.prototype.abort.call(this.controller, error);
    }
  }

  /** @param {Error} error why there is no link to announce the request on */
  lost(error) {
    this.fail(error);
  }

  /**
   * Read the part of the body that the announcement needs.
   * @returns {Promise<import('./body.js').Held>}
   */
  async read() {
    const { body } = this.opts;
    if (isBlob(body)) return { bytes: Buffer.from(await body.arrayBuffer()), truncated: false, body };
    const form = isForm(body) ? await encodeForm(body) : undefined;
    this.isChunked = form ? form.size === undefined : !isEnded(body);
    const source = (this.source = new Source(form ? form.body : body, new Upload(this.agent)));
    await source.begin();
    const isWhole = source.upload.isWhole;
    const bytes = isWhole ? source.upload.copy.bytes() : null;
    return { ...form, bytes, truncated: !isWhole, body: form && bytes ? bytes : source.body() };
  }

  /** @param {import('./body.js').Held} body */
  announce({ bytes, truncated, body, contentType, size }) {
    if (!this.isHeld) return;
    this.agent.waiters.leave(this);
    let pairs = pairsOf(this.opts.headers);
    // Headers that undici itself adds for a form.
    for (const [name, value] of Object.entries({ "content-type": contentType, "content-length": size })) {
      if (value !== undefined && headers.get(pairs, name) === undefined) pairs = [...pairs, [name, String(value)]];
    }
    const mismatch = truncated
      ? undefined
      : lengthError(this.dispatcher, String(this.opts.method ?? "GET"), pairs, bytes);
    if (mismatch) return this.refuse(mismatch);
    this.bytes = bytes;
    this.opts = { ...this.opts, body, ...(contentType && { headers: likeGiven(this.opts.headers, pairs) }) };
    const method = String(this.opts.method ?? "GET");
    const from = this.chain?.take(this.url.href);
    const upload = truncated && !from ? this.source?.upload : undefined;
    const request = {
      url: this.url.href,
      method: method.toUpperCase(),
      pairs: this.agent.contexts.announced(pairs, this.context),
      body: bytes,
      truncated: truncated && !upload,
    };
    this.exchange = new Exchange(this.agent, request, this, upload);
    if (from) this.exchange.follow(from);
    else this.exchange.start();
    if (!this.isHeld) return;
    this.beginConnecting();
    this.beginTimeout();
  }

  /** Start the time limit for the response's head, as undici would. */
  beginTimeout() {
    this.limit("headers", () => this.isWriting, headersTimeoutError);
  }

  /**
   * Abort the request if a time limit of undici is reached.
   * @param {"headers" | "body"} part of the response
   * @param {() => boolean} isUncounted
   * @param {() => Error} errorOf
   */
  limit(part, isUncounted, errorOf) {
    const late = () => {
      this.connect();
      Controller.prototype.abort.call(this.controller, errorOf());
    };
    this.timeout = new TimeLimit(limitOf(part, this.dispatcher, this.opts), isUncounted, late);
    this.timeout.begin();
  }

  /** @param {any} reason with which the application aborted the request */
  aborted(reason) {
    if (this.realAbort) return this.realAbort(reason);
    if (this.letGo()) {
      this.exchange?.cancel();
      this.source?.close(reason);
    } else if (!this.served) return;
    this.served?.close();
    this.unserve();
    fail(this.handler, this.given, reason ?? requestAbortedError());
  }

  /** @returns {boolean} whether the agent still reads the application's body */
  get isWriting() {
    return this.isCollecting && !this.source?.upload.isWhole;
  }

  /** Read the whole body, because a test needs it. */
  collect() {
    this.isCollecting = this.source !== undefined;
    this.source?.readAll().catch((error) => {
      this.exchange?.cancel();
      this.fail(error);
    });
  }

  /** @returns {Controller | undefined} the controller, if the handler has got it: undici gives it none before a connection */
  get given() {
    return this.controller.isGiven ? this.controller : undefined;
  }

  letGo() {
    const wasHeld = this.isHeld;
    this.isHeld = false;
    this.timeout?.end();
    clearTimeout(this.connecting);
    this.agent.waiters.leave(this);
    return wasHeld;
  }

  passthrough() {
    if (!this.letGo()) return;
    const { exchange } = this;
    if (exchange?.upload) exchange.upload.pass(exchange.id);
    this.send(this.dispatcher, this.outbound(), {
      url: this.url.href,
      method: String(this.opts.method ?? "GET").toUpperCase(),
    });
  }

  /** @returns {any} the options to send the request with */
  outbound() {
    return outboundOptions(this.agent, this.opts, this.url, this.context);
  }

  /**
   * @param {import('../protocol/messages.js').Outgoing} changed
   * @param {import('../exchange/faulty-body.js').BodyWay} [wayBack]
   */
  resume(changed, wayBack) {
    if (!this.letGo()) return;
    const opts = this.optionsFor(changed);
    // The body of a hop with a handler's headers may not be read yet.
    if (changed.truncated) opts.body = this.opts.body;
    const dispatcher = dispatcherFor(this.dispatcher, this.url, new URL(changed.url));
    if (wayBack) this.relay(dispatcher, { ...opts, upgrade: undefined }, changed, wayBack);
    else this.send(dispatcher, opts, changed);
  }

  /**
   * Send the request, and answer by a real answer that breaks, or comes at a rate.
   * @param {any} dispatcher
   * @param {any} opts
   * @param {import('../protocol/messages.js').Outgoing} changed
   * @param {import('../exchange/faulty-body.js').BodyWay} wayBack
   */
  relay(dispatcher, opts, changed, wayBack) {
    const watcher = this.watcher(changed);
    const report = /** @type {import('../exchange/report.js').Report} */ (this.report);
    const { method } = changed;
    const answer = new RelayedAnswer(method, {
      connected: () => this.connect(),
      bodySent: (chunk) => this.handler.onBodySent?.(chunk),
      requestSent: () => this.handler.onRequestSent?.(),
      informational: (status, statusText, pairs) => this.inform({ status, statusText, pairs }, body),
      head: (status, statusText, given) => {
        if (body.isUnanswered) {
          body.breakOff();
          return this.unanswered(body.reset ?? closedError());
        }
        report.head(status, statusText, given);
        if (isRedirect(status, given)) this.redirected(report);
        this.serve(body.under(method, { status, statusText, pairs: watcher.headers(given) }));
      },
      data: (chunk) => body.push(chunk),
      end: (trailers) => body.end(trailers),
      fail: (error) => {
        body.fail(error);
        if (!body.reader) this.unanswered(error);
      },
    });
    const body = new RelayedBody(wayBack, answer, report);
    this.served = body;
    try {
      this.leave(this.dispatch(dispatcher, opts, answer));
    } catch (error) {
      report.fail(error);
      this.unanswered(error);
    }
  }

  /**
   * @param {{ status: number, statusText: string, pairs: import('../protocol/headers.js').Pairs }} head of an
   *   informational response
   * @param {RelayedBody} body of the response that follows
   */
  inform(head, body) {
    if (body.isUnanswered || this.controller.aborted) return;
    try {
      giveHead(this.handler, this.controller, head);
    } catch (error) {
      Controller.prototype.abort.call(this.controller, error);
    }
  }

  /** @param {any} error in the place of an answer */
  unanswered(error) {
    if (!this.served) return;
    this.unserve();
    fail(this.handler, this.controller, error);
  }

  /** @param {import('../protocol/messages.js').Outgoing} wanted */
  optionsFor(wanted) {
    return optionsFor(this.opts, wanted, this.url, this.isResolved, this.isChunked);
  }

  /**
   * @param {any} dispatcher
   * @param {any} opts
   * @param {{ url: string, method: string }} asked
   */
  send(dispatcher, opts, asked) {
    const isOwn = dispatcher === this.dispatcher;
    const watcher = this.watcher(asked, isOwn ? undefined : () => this.release?.());
    const observer = isModern(this.handler)
      ? new ModernObserver(this.handler, watcher, this.controller)
      : new LegacyObserver(this.handler, watcher);
    try {
      this.leave(this.dispatch(dispatcher, opts, observer));
      if (isOwn) this.release?.();
    } catch (error) {
      this.report?.fail(error);
      this.leave();
      this.release?.();
      fail(this.handler, this.controller, error);
    }
  }

  /** @param {boolean} [taken] what the dispatcher said to the request, if it has it now */
  leave(taken) {
    this.taken = taken;
    this.queue?.leave(taken);
    this.queue = undefined;
  }

  /**
   * @param {any} dispatcher
   * @param {any} opts
   * @param {object} handler
   * @returns {boolean | undefined} what the application's dispatcher says; `undefined` of another one
   */
  dispatch(dispatcher, opts, handler) {
    const marked = this.marked(opts);
    if (tracing()) cleanLast(this.agent);
    if (dispatcher === this.dispatcher) return admit(dispatcher, this.original, marked, handler);
    bypass(() => dispatcher.dispatch(marked, handler));
    return undefined;
  }

  /**
   * @param {{ url: string, method: string }} asked
   * @param {() => void} [over] called at the end of the answer
   * @returns {import('./handlers.js').Watcher}
   */
  watcher({ url, method }, over) {
    const exchange = /** @type {Exchange} */ (this.exchange);
    const report = (this.report = exchange.report(url));
    // undici tells again of a request that it repeats on another connection.
    let wasConnected = this.isConnected;
    return {
      connected: (abort, context) => {
        this.realAbort = (reason) => {
          report.cut();
          abort(reason);
        };
        if (this.controller.aborted) return abort(this.controller.reason);
        if (!wasConnected) connect(this.handler, this.controller, context);
        wasConnected = false;
        this.isConnected = true;
      },
      head: (status, statusText, pairs) => {
        report.head(status, statusText, pairs);
        if (isRedirect(status, pairs)) this.redirected(report);
        // undici may wait for a body that does not exist.
        if (isBodiless(method, status)) report.end();
      },
      data: (chunk) => report.data(chunk),
      end: (trailers) => {
        report.end(trailers);
        over?.();
      },
      upgraded: (status, pairs) => {
        report.head(status, "", pairs);
        report.end();
        over?.();
      },
      fail: (error) => {
        report.fail(error);
        over?.();
      },
      headers: (pairs) => (url === this.url.href ? pairs : rewriteLocation(pairs, url)),
    };
  }

  /** @param {import('../exchange/report.js').Report} report */
  redirected(report) {
    const chain = this.chain ?? new Chain();
    chain.redirected(report.id, report, /** @type {Exchange} */ (this.exchange));
    chainOf.set(this.handler, chain);
  }

  /** @param {import('../exchange/mock.js').Mock} mock */
  fulfill(mock) {
    if (!this.isHeld) return;
    this.served = mock.body;
    this.connect();
    if (!this.letGo()) return;
    try {
      giveSent(this.handler, this.written());
    } catch (error) {
      Controller.prototype.abort.call(this.controller, error);
    }
    if (!this.controller.aborted) this.serve(mock);
  }

  /** @returns {Uint8Array[] | undefined} the chunks of the body; `undefined` if it is not written to its end */
  written() {
    const { source, bytes } = this;
    if (source) return source.upload.isWhole ? source.chunks : undefined;
    return bytes?.length ? [bytes] : [];
  }

  /** @param {import('../exchange/mock.js').Mock} mock */
  serve(mock) {
    this.served = mock.body;
    this.limit("body", () => this.controller.paused, bodyTimeoutError);
    serve(this.handler, this.controller, mock, {
      given: () => this.timeout?.begin(),
      completed: () => this.unserve(),
      malformed: () => malformedError(this.dispatcher),
    });
  }

  unserve() {
    this.served = undefined;
    this.timeout?.end();
    this.leave(this.taken);
    this.release?.();
  }

  /** Close the connection without an answer. */
  closeUnanswered() {
    this.fail(closedError());
  }

  /** @param {any} error */
  fail(error) {
    if (this.isHeld && !UNCONNECTED.has(error?.syscall)) this.connect();
    this.refuse(error);
  }

  /** @param {Error} error with which the request fails before there is a connection */
  refuse(error) {
    if (!this.letGo()) return;
    this.leave();
    this.release?.();
    this.source?.close(error);
    fail(this.handler, this.given, error);
  }

  /**
   * @param {import('../protocol/messages.js').Outgoing} wanted
   * @param {AbortSignal} signal
   * @returns {Promise<import('../protocol/messages.js').UpstreamResponse>}
   */
  perform(wanted, signal) {
    const dispatcher = dispatcherFor(this.dispatcher, this.url, new URL(wanted.url));
    const opts = { ...this.optionsFor(wanted), upgrade: undefined };
    return new Promise((resolve, reject) => {
      this.dispatch(dispatcher, opts, new Collector(wanted, BODY_LIMITS.handler, signal, resolve, reject));
    });
  }
}

module.exports = { HeldDispatch, SEEN, chainOf };
