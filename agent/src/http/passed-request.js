"use strict";

const { setImmediate } = require("node:timers");
const { ReportedRequest, isJudged } = require("../exchange/reported-request.js");
const { Upload } = require("../exchange/upload.js");
const { bufferedBody } = require("./buffered-body.js");
const { SentRequest } = require("./sent-request.js");
const { Writes } = require("./writes.js");
const { declaredLength, headerLines } = require("./text.js");
const { onHead, rewriteHead } = require("./head.js");

/**
 * A request about which the proxy is not asked. Its `http.Agent` gets it at once, in the call and with the arguments
 * with which it would get it without trafficmock: classes of libraries look at their stack, and change the request. It
 * is reported when its head and body are written.
 */
class PassedRequest extends SentRequest {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {import('node:http').ClientRequest} req
   * @param {URL} url
   * @param {{ context: import('../contexts/test-contexts.js').TestContext | undefined, callers: { stack?: string } | undefined }} origin
   * @param {import('../exchange/redirects.js').Hop} [from] the hop before, if the request follows a redirect
   */
  constructor(agent, req, url, origin, from) {
    const request = { url: url.href, method: req.method, pairs: [], body: null };
    super(req, new ReportedRequest(agent, request, origin));
    const { exchange } = this;
    this.agent = agent;
    this.url = url;
    this.from = from;
    /** The head before the context was changed. @type {string | undefined} */
    this.head = undefined;
    /** The `content-length` of the head, once there is one. @type {number | undefined} */
    this.bodyLength = undefined;
    this.upload = new Upload(agent);
    this.upload.copy.limitTo(agent.bodyLimits?.history ?? 0);
    /** The error of a connection that failed before the request was written. @type {any} */
    this.early = undefined;
    if (from) exchange.passAfter(from);
    else exchange.pass();
    if (exchange.isReported) void new Writes(req, this);
    else this.report = exchange.report(url.href);
    onHead(req, () => this.sign());
    const written = bufferedBody(req);
    if (written.length) {
      this.push(written);
      this.begin();
    }
    if (req.writableEnded) this.end();
  }

  /** Correct the context headers of the head. */
  sign() {
    const { contexts } = this.agent;
    const { context } = this.exchange;
    const head = /** @type {any} */ (this.req)._header;
    this.head ??= head;
    if (contexts.isConcerned(head, context)) {
      rewriteHead(this.req, (pairs) => contexts.outbound(this.url, pairs, context));
    }
  }

  /** @param {Uint8Array} chunk of the body that the application writes */
  push(chunk) {
    this.upload.push(chunk);
  }

  /** Report the request soon: with its body, if that is complete by then. */
  begin() {
    // Streams of an old kind, such as form-data's, never call `end()`.
    this.bodyLength ??= declaredLength(this.head ?? "");
    if (!this.upload.isWhole && this.upload.copy.size >= this.bodyLength) return this.end();
    if (!this.from && !this.report) setImmediate(() => this.announced());
  }

  end() {
    this.upload.end();
    this.announced();
  }

  /** @returns {import('../exchange/report.js').Report} of the request, which is announced by now */
  announced() {
    this.report ??= this.announce();
    return this.report;
  }

  /** @returns {import('../exchange/report.js').Report} */
  announce() {
    const { agent, req, exchange, from, upload } = this;
    const isOpen = !upload.isWhole || upload.copy.isCut;
    exchange.upload = isOpen && !from ? upload : undefined;
    exchange.request = {
      url: this.url.href,
      method: req.method,
      pairs: agent.contexts.announced(headerLines(this.head ?? ""), exchange.context),
      body: isOpen ? null : upload.copy.bytes(),
      truncated: isOpen && !exchange.upload,
    };
    if (from) exchange.tellPassedAfter(from);
    else exchange.tellPassed();
    exchange.upload?.pass(exchange.id);
    const report = exchange.report(exchange.request.url);
    if (this.early) report.fail(this.early);
    return report;
  }

  /** @param {any} error */
  failed(error) {
    if (this.report) this.report.fail(error);
    else this.early ??= error;
  }
}

/**
 * Let a request pass at once, if the proxy need not be asked about it.
 * @param {import('../agent.js').Agent} agent
 * @param {any} req
 * @param {URL} url
 * @param {import('../exchange/redirects.js').Chain | undefined} chain of the call that makes the request
 * @param {{ stack?: string } | undefined} callers of the function that makes the request
 * @returns {boolean} whether it passes
 */
function pass(agent, req, url, chain, callers) {
  const context = agent.contexts.current();
  if (!chain?.leadsTo(url.href)) {
    if (!agent.local.lets(url.href, context)) return false;
    return Boolean(new PassedRequest(agent, req, url, { context, callers }));
  }
  const { hop } = /** @type {{ hop: import('../exchange/redirects.js').Hop }} */ (chain.last);
  if (chain.isOverridden || isJudged(agent, hop)) return false;
  return Boolean(new PassedRequest(agent, req, url, { context, callers: chain.callers }, chain.take(url.href)));
}

module.exports = { pass };
