"use strict";

const { setImmediate } = require("node:timers");
const headers = require("../protocol/headers.js");
const { phraseOf, shownByUndici } = require("./reason-phrase.js");
const { closedError, requestAbortedError } = require("./undici-errors.js");
const { Arrival } = require("../exchange/arrival.js");
const { BodyCopy } = require("../exchange/body-copy.js");
const { isBodiless } = require("../exchange/report.js");

/**
 * undici reports the events of a request to a handler object: by `onConnect`,
 * `onHeaders`, ... up to version 7, and by `onRequestStart`, `onResponseStart`, ... from
 * version 7 on. For both kinds, the observers here report what the application's handler
 * gets, `serve` calls a handler with a mock, and `Collector` collects a response.
 */

/** @param {any} handler */
const isModern = (handler) => typeof handler.onRequestStart === "function";

/** The argument of `onRequestStart`: one object before and after the decision, because the handler gets it once. */
class Controller {
  /** @param {(reason: any) => void} abort */
  constructor(abort) {
    /** @type {any} */
    this.real = undefined;
    this.abortWith = abort;
    /** Whether the application's handler has got it. */
    this.isGiven = false;
    this.aborted = false;
    this.paused = false;
    /** @type {any} */
    this.reason = null;
    /** @type {any} */
    this.rawHeaders = null;
    /** @type {any} */
    this.rawTrailers = null;
    /** @type {() => void} */
    this.resumed = () => {};
  }

  pause() {
    this.paused = true;
    this.real?.pause();
  }

  resume() {
    if (!this.paused) return;
    this.paused = false;
    if (this.real) this.real.resume();
    else this.resumed();
  }

  /** @param {any} reason */
  abort(reason) {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.abortWith(reason);
  }
}

/**
 * Gets the events of a request before the application's handler does.
 *
 * @typedef {object} Watcher
 * @property {(status: number, statusText: string, pairs: headers.Pairs) => void} head
 * @property {(chunk: Buffer) => void} data
 * @property {(trailers: headers.Pairs) => void} end
 * @property {(status: number, pairs: headers.Pairs) => void} upgraded called for an upgrade; the protocol after it is not read
 * @property {(error: Error) => void} fail
 * @property {(abort: (reason: any) => void, context: any[]) => void} connected tells the application's handler, with the
 *   further arguments that undici gives
 * @property {(pairs: headers.Pairs) => headers.Pairs} headers returns the headers that the application gets
 */

/** For handlers up to version 7. */
class LegacyObserver {
  /**
   * @param {any} handler
   * @param {Watcher} watcher
   */
  constructor(handler, watcher) {
    this.handler = handler;
    this.watcher = watcher;
    if (handler.onBodySent) this.onBodySent = (/** @type {any} */ chunk) => handler.onBodySent(chunk);
    if (handler.onRequestSent) this.onRequestSent = () => handler.onRequestSent();
    if (handler.onResponseStarted) this.onResponseStarted = () => handler.onResponseStarted();
    if (handler.onUpgrade) {
      this.onUpgrade = (/** @type {number} */ status, /** @type {any[]} */ raw, /** @type {any} */ socket) => {
        watcher.upgraded(status, headers.fromRaw(raw));
        return handler.onUpgrade(status, raw, socket);
      };
    }
  }

  /**
   * @param {(reason: any) => void} abort
   * @param {any[]} context
   */
  onConnect(abort, ...context) {
    this.watcher.connected(abort, context);
  }

  /**
   * @param {number} status
   * @param {any[]} raw
   * @param {() => void} resume
   * @param {string} statusText
   */
  onHeaders(status, raw, resume, statusText) {
    if (status < 200) return this.handler.onHeaders(status, raw, resume, statusText);
    const pairs = headers.fromRaw(raw);
    this.watcher.head(status, phraseOf(statusText), pairs);
    const shown = this.watcher.headers(pairs);
    return this.handler.onHeaders(status, shown === pairs ? raw : toRaw(shown), resume, statusText);
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    this.watcher.data(chunk);
    return this.handler.onData(chunk);
  }

  /** @param {any} trailers */
  onComplete(trailers) {
    this.watcher.end(headers.fromRaw(trailers ?? []));
    return this.handler.onComplete(trailers);
  }

  /** @param {Error} error */
  onError(error) {
    this.watcher.fail(error);
    return this.handler.onError(error);
  }
}

/** For handlers from version 7 on. */
class ModernObserver {
  /**
   * @param {any} handler
   * @param {Watcher} watcher
   * @param {Controller} controller that the handler gets by `onRequestStart`
   */
  constructor(handler, watcher, controller) {
    this.handler = handler;
    this.watcher = watcher;
    this.controller = controller;
    if (handler.onBodySent) this.onBodySent = (/** @type {any} */ chunk) => handler.onBodySent(chunk);
    if (handler.onRequestSent) this.onRequestSent = () => handler.onRequestSent();
    if (handler.onResponseStarted) this.onResponseStarted = () => handler.onResponseStarted();
    if (handler.onRequestUpgrade) {
      this.onRequestUpgrade = (
        /** @type {any} */ real,
        /** @type {number} */ status,
        /** @type {any} */ map,
        /** @type {any} */ socket,
      ) => {
        controller.rawHeaders = real?.rawHeaders;
        watcher.upgraded(status, pairsOfMap(map));
        return handler.onRequestUpgrade(controller, status, map, socket);
      };
    }
  }

  /**
   * @param {any} real
   * @param {any[]} context
   */
  onRequestStart(real, ...context) {
    this.controller.real = real;
    this.watcher.connected((reason) => real.abort(reason), context);
  }

  /**
   * @param {any} real
   * @param {number} status
   * @param {any} map
   * @param {string} statusText
   */
  onResponseStart(real, status, map, statusText) {
    const { controller } = this;
    controller.rawHeaders = real?.rawHeaders;
    if (status < 200) return this.handler.onResponseStart?.(controller, status, map, statusText);
    const pairs = Array.isArray(controller.rawHeaders) ? headers.fromRaw(controller.rawHeaders) : pairsOfMap(map);
    this.watcher.head(status, phraseOf(statusText), pairs);
    const shown = this.watcher.headers(pairs);
    if (shown !== pairs) {
      controller.rawHeaders = toRaw(shown);
      map = headers.toMultiMap(shown);
    }
    return this.handler.onResponseStart?.(controller, status, map, statusText);
  }

  /**
   * @param {any} _real
   * @param {Buffer} chunk
   */
  onResponseData(_real, chunk) {
    this.watcher.data(chunk);
    return this.handler.onResponseData?.(this.controller, chunk);
  }

  /**
   * @param {any} real
   * @param {any} trailers
   */
  onResponseEnd(real, trailers) {
    this.watcher.end(trailersOf(real, trailers));
    this.controller.rawTrailers = real?.rawTrailers;
    return this.handler.onResponseEnd?.(this.controller, trailers);
  }

  /**
   * @param {any} real `undefined` if there was no connection
   * @param {Error} error
   */
  onResponseError(real, error) {
    this.watcher.fail(error);
    return this.handler.onResponseError?.(this.controller.isGiven ? this.controller : real, error);
  }
}

/**
 * Call a handler with a mock, as undici would, with regard to its back-pressure. A handler that
 * throws aborts its request, as with undici.
 * @param {any} handler
 * @param {Controller} controller
 * @param {import('../exchange/mock.js').Mock} mock
 * @param {{ given(): void, completed(): void, malformed(): Error }} progress called when the handler has got the head or
 *   a part of the body, and before its last event, after which nothing can be aborted; `malformed` makes the error of
 *   chunks that are not those of HTTP
 */
function serve(handler, controller, { status, statusText, pairs, body }, { given, completed, malformed }) {
  const isNew = isModern(handler);
  const step = (/** @type {() => void} */ act) => {
    try {
      act();
      given();
    } catch (error) {
      // Not the method of the object, which a handler may have replaced (undici's `dump`).
      Controller.prototype.abort.call(controller, error);
    }
    return !controller.paused && !controller.aborted;
  };
  const head = () => giveHead(handler, controller, { status, statusText, pairs });
  const data = (/** @type {Buffer} */ chunk) => {
    if (isNew) handler.onResponseData?.(controller, chunk);
    else if (handler.onData(chunk) === false) controller.paused = true;
  };
  const end = (/** @type {headers.Pairs} */ trailers) => {
    completed();
    const raw = toRaw(trailers);
    try {
      if (isNew) {
        controller.rawTrailers = raw;
        handler.onResponseEnd?.(controller, headers.toMultiMap(trailers));
      } else handler.onComplete(raw);
    } catch (error) {
      fail(handler, controller, error);
    }
  };
  // `fetch` begins to listen for the end of an answer some ticks after its head.
  const breakOff = (/** @type {Error} */ error) =>
    setImmediate(() => {
      if (controller.aborted) return;
      completed();
      fail(handler, controller, error);
    });
  const hasRoom = step(head);
  if (controller.aborted) return;
  controller.resumed = () => body.more();
  const reader = {
    data: (/** @type {Buffer} */ chunk) => step(() => data(chunk)),
    end,
    fail: (/** @type {Error | undefined} */ reset) => breakOff(reset ?? closedError()),
    malform: () => breakOff(malformed()),
  };
  body.flow(reader, hasRoom);
}

/**
 * Call a handler with the head of a response, which may be an informational one.
 * @param {any} handler
 * @param {Controller} controller
 * @param {{ status: number, statusText: string, pairs: headers.Pairs }} head
 */
function giveHead(handler, controller, { status, statusText, pairs }) {
  const raw = toRaw(pairs);
  const shown = shownByUndici(statusText);
  handler.onResponseStarted?.();
  if (controller.aborted) return;
  if (isModern(handler)) {
    controller.rawHeaders = raw;
    handler.onResponseStart?.(controller, status, headers.toMultiMap(pairs), shown);
  } else if (handler.onHeaders(status, raw, () => controller.resume(), shown) === false) {
    controller.paused = true;
  }
}

/**
 * Tell a handler that its request is written.
 * @param {any} handler
 * @param {Uint8Array[] | undefined} chunks of the body; `undefined` if it is not written to its end
 */
function giveSent(handler, chunks) {
  for (const chunk of chunks ?? []) handler.onBodySent?.(chunk);
  if (chunks) handler.onRequestSent?.();
}

/**
 * Tell a handler that its request has a connection, on which it is sent now.
 * @param {any} handler
 * @param {Controller} controller
 * @param {any[]} context the further arguments of undici
 */
function connect(handler, controller, context) {
  controller.isGiven = true;
  if (isModern(handler)) handler.onRequestStart(controller, ...context);
  else handler.onConnect((/** @type {any} */ reason) => controller.abort(reason), ...context);
}

/**
 * @param {any} handler
 * @param {Controller | undefined} controller `undefined` if the handler has got none yet, as of undici
 * @param {any} error
 */
function fail(handler, controller, error) {
  if (isModern(handler)) handler.onResponseError?.(controller, error);
  else handler.onError(error);
}

/** A handler that collects a whole response, for any version of undici. */
class Collector {
  /**
   * @param {import('../protocol/messages.js').Outgoing} request that is sent
   * @param {number} limit of the response's body; bytes
   * @param {AbortSignal} signal aborts the request
   * @param {(answer: import('../protocol/messages.js').UpstreamResponse) => void} resolve
   * @param {(error: Error) => void} reject
   */
  constructor({ url, method }, limit, signal, resolve, reject) {
    this.copy = new BodyCopy(limit);
    this.arrival = new Arrival();
    this.signal = signal;
    this.resolve = resolve;
    this.reject = reject;
    this.url = url;
    this.method = method;
    this.status = 0;
    this.statusText = "";
    /** @type {headers.Pairs} */
    this.pairs = [];
    this.isComplete = false;
    /** @type {(reason: any) => void} */
    this.abort = () => {};
    this.stop = () => this.abort(signal.reason);
    signal.addEventListener("abort", this.stop);
  }

  /** @param {(reason: any) => void} abort */
  onConnect(abort) {
    this.abort = abort;
    if (this.signal.aborted) this.stop();
  }

  /** @param {any} controller */
  onRequestStart(controller) {
    this.onConnect((reason) => controller.abort(reason));
  }

  /**
   * @param {number} status
   * @param {any[]} raw
   * @param {() => void} _resume
   * @param {string} statusText
   */
  onHeaders(status, raw, _resume, statusText) {
    this.head(status, phraseOf(statusText), headers.fromRaw(raw));
    return true;
  }

  /**
   * @param {any} controller
   * @param {number} status
   * @param {any} map
   * @param {string} statusText
   */
  onResponseStart(controller, status, map, statusText) {
    const raw = controller?.rawHeaders;
    this.head(status, phraseOf(statusText), Array.isArray(raw) ? headers.fromRaw(raw) : pairsOfMap(map));
  }

  /**
   * @param {number} status
   * @param {string} statusText
   * @param {headers.Pairs} pairs
   */
  head(status, statusText, pairs) {
    // The response itself follows an informational one.
    if (status < 200) return;
    Object.assign(this, { status, statusText, pairs });
    this.arrival = new Arrival();
    if (!isBodiless(this.method, status)) return;
    this.answer();
    // undici 6 and 7 wait for the length in such a head; the connection would never be free again.
    setImmediate(() => {
      if (!this.isComplete) this.abort(requestAbortedError());
    });
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    this.copy.push(chunk);
    this.arrival.push(chunk.length);
    return true;
  }

  /**
   * @param {any} _controller
   * @param {Buffer} chunk
   */
  onResponseData(_controller, chunk) {
    this.onData(chunk);
  }

  /** @param {any} raw */
  onComplete(raw) {
    this.end(headers.fromRaw(raw ?? []));
  }

  /** @param {headers.Pairs} trailers */
  end(trailers) {
    this.isComplete = true;
    this.answer(trailers);
  }

  /** @param {headers.Pairs} [trailers] */
  answer(trailers) {
    if (this.copy.isCut) {
      return this.onError(
        new Error(`The response is larger than the ${this.copy.limit} bytes that a handler may be handed`),
      );
    }
    const { status, statusText, pairs, url } = this;
    const pieces = this.arrival.recorded();
    this.signal.removeEventListener("abort", this.stop);
    this.resolve({ status, statusText, pairs, body: this.copy.bytes(), url, trailers, pieces });
  }

  /**
   * @param {any} controller
   * @param {any} map
   */
  onResponseEnd(controller, map) {
    this.end(trailersOf(controller, map));
  }

  /** @param {Error} error */
  onError(error) {
    this.signal.removeEventListener("abort", this.stop);
    this.reject(error);
  }

  /**
   * @param {any} _controller
   * @param {Error} error
   */
  onResponseError(_controller, error) {
    this.onError(error);
  }
}

/**
 * @param {any} controller
 * @param {any} map the trailer fields of a version that has no raw ones
 * @returns {headers.Pairs} the fields behind a body
 */
function trailersOf(controller, map) {
  const raw = controller?.rawTrailers;
  return Array.isArray(raw) ? headers.fromRaw(raw) : pairsOfMap(map ?? {});
}

/** @param {headers.Pairs} pairs */
const toRaw = (pairs) => pairs.flat().map((text) => Buffer.from(text, "latin1"));

/** @param {Record<string, string | string[]>} map */
const pairsOfMap = (map) =>
  /** @type {headers.Pairs} */ (
    Object.entries(map ?? {}).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]))
  );

module.exports = {
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
  pairsOfMap,
  trailersOf,
};
