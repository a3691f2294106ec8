"use strict";

const { Chain, chains, isRedirect } = require("../exchange/redirects.js");
const { givenUp } = require("../exchange/report.js");
const headers = require("../protocol/headers.js");
const upstream = require("./upstream.js");

/** A request that the application's own `http.Agent` sends: what becomes of it is reported. */
class SentRequest {
  /**
   * @param {import('node:http').ClientRequest} req
   * @param {import('../exchange/reported-request.js').ReportedRequest} exchange
   * @param {import('../exchange/report.js').Report} [report] none before the request is announced
   */
  constructor(req, exchange, report) {
    this.req = req;
    this.exchange = exchange;
    this.report = report;
    /** The upstream's response. @type {any} */
    this.response = undefined;
    this.watch();
  }

  /** Observe the events of the application's request without adding a listener:
   * Node discards a response for which there is no listener. */
  watch() {
    const { req } = this;
    const { emit } = req;
    const own = /** @type {any} */ (req);
    own.emit = (/** @type {string} */ event, /** @type {any[]} */ ...args) => {
      const deliver = () => emit.call(req, event, ...args);
      if (event === "error") this.failed(args[0]);
      else if (event === "close") this.closed();
      else if (event === "upgrade") upgraded(args[0], this.announced());
      if (event !== "response") return deliver();
      const report = this.announced();
      this.response = args[0];
      upstream.observe(this.response, report);
      return inChain(this.exchange, report, deliver);
    };
  }

  /** @returns {import('../exchange/report.js').Report} of the request, which is announced by now */
  announced() {
    return /** @type {import('../exchange/report.js').Report} */ (this.report);
  }

  /** @param {any} error */
  failed(error) {
    this.report?.fail(error);
  }

  closed() {
    if (this.report) upstream.closed(this.response, this.report);
  }

  /** @param {Uint8Array} chunk of the body that the application writes */
  push(chunk) {
    this.exchange.upload?.push(chunk);
  }

  begin() {}

  end() {
    this.exchange.upload?.end();
  }

  /** @param {any} error with which the application gave the request up */
  destroy(error) {
    // Some clients abort a request when the upstream has just cut its response.
    if (this.report?.status) this.closed();
    else this.failed(error ?? givenUp());
  }

  setTimeout() {}
}

/**
 * Report a 101 response; the protocol after it is not read.
 * @param {any} response
 * @param {import('../exchange/report.js').Report} report
 */
function upgraded({ statusCode, statusMessage, rawHeaders }, report) {
  report.head(statusCode, statusMessage, headers.fromRaw(rawHeaders));
  report.end();
}

/**
 * Deliver a response, so that a request that the client sends because of it is its next hop.
 * @param {import('../exchange/reported-request.js').ReportedRequest} exchange
 * @param {import('../exchange/report.js').Report} report
 * @param {() => boolean} act
 */
function inChain(exchange, report, act) {
  if (!isRedirect(report.status, report.pairs)) return act();
  const chain = new Chain(exchange.callers);
  chain.redirected(exchange.id, report, exchange);
  return chains.run(chain, act);
}

module.exports = { SentRequest, inChain };
