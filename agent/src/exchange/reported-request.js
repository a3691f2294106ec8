"use strict";

const { newId } = require("../protocol/ids.js");
const { Report } = require("./report.js");
const { contextToWire, requestToWire } = require("../protocol/messages.js");

/** One request of the application as the proxy hears of it: its announcement, and the report of its response. */
class ReportedRequest {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {import('../protocol/messages.js').Outgoing} request
   * @param {object} sender of the request
   * @param {import('../contexts/test-contexts.js').TestContext | undefined} sender.context
   * @param {{ stack?: string } | undefined} sender.callers of the function that sends it
   * @param {import('../contexts/request-origin.js').RequestOrigin | undefined} [sender.origin] of a request without a context
   * @param {import('./upload.js').Upload} [upload] the body, if it is not complete yet
   */
  constructor(agent, request, { context, callers, origin }, upload) {
    this.agent = agent;
    this.id = newId();
    this.request = request;
    this.context = context;
    this.callers = callers;
    this.origin = origin;
    this.upload = upload;
    /** The headers with which a handler continued the request. @type {import('../protocol/headers.js').Pairs | undefined} */
    this.override = undefined;
    /** Sends the messages about the request to the proxy. @type {{ send(message: object, links: number): void }} */
    this.reporter = agent;
    /** Whether the request is reported to the proxy. */
    this.isReported = true;
    /** Whether the proxy decides about each redirect of the request (strict mode). */
    this.judgesHops = false;
  }

  /** Note that the request passes without a question, because no route can match it. */
  pass() {
    this.reporter = this.agent.local;
    this.isReported = this.agent.local.pass();
  }

  /** Report a request that passes without a question. */
  tellPassed() {
    if (this.isReported) this.announce("request:passed", { n: this.agent.local.n, ...this.bodyNews });
    else this.upload?.forget();
  }

  get bodyNews() {
    return this.upload ? { bodyPending: true } : {};
  }

  /**
   * Note that the request is the next hop of a redirect, about which the proxy is not asked.
   * @param {import('./redirects.js').Hop} from the hop before
   */
  passAfter({ reporter, isReported }) {
    this.reporter = reporter;
    this.isReported = isReported;
  }

  /**
   * Report a request as the next hop of a redirect.
   * @param {import('./redirects.js').Hop} from the hop before
   */
  tellPassedAfter({ id }) {
    if (this.isReported) this.announce("request:observe", { redirectedFromRequestId: id });
  }

  /**
   * @param {string} type
   * @param {object} more
   */
  announce(type, more) {
    if (this.upload) Object.assign(this.upload, { links: this.agent.links, reporter: this.reporter });
    const request = requestToWire(this.request);
    const context = contextToWire(this.context);
    const message = { type, requestId: this.id, clientId: this.agent.clientId, request, ...context, ...more };
    this.reporter.send(message, this.agent.links);
  }

  /**
   * @param {string} url that the request is sent to
   * @returns {Report} of the upstream's response
   */
  report(url) {
    return new Report(this.agent, this, url, this.upload);
  }
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {import('./redirects.js').Hop} from the hop before
 * @returns {boolean} whether strict mode decides about the next hop of a redirect; it may have begun after the decision about the first one
 */
const isJudged = (agent, from) => from.isJudged || agent.local.mayRefuse;

module.exports = { ReportedRequest, isJudged };
