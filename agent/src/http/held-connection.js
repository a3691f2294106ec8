"use strict";

const { UNMATCHED } = require("../protocol/facts.js");
const { newId } = require("../protocol/ids.js");
const { TrafficMockError } = require("../protocol/errors.js");
const { contextToWire, responseToWire } = require("../protocol/messages.js");
const { connectMessage, connectedAnswer } = require("./passed-connection.js");
const { scope } = require("../process/scope.js");

/**
 * A connection whose requests are not seen, and about which strict mode decides: a session of HTTP/2, or a tunnel that the
 * application opens by itself. What it is made of waits for the decision.
 */
class HeldConnection {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {URL} url the origin that it leads to
   * @param {() => void} [unjudged] called when it may go on because strict mode is not in force
   */
  constructor(agent, url, unjudged = () => {}) {
    this.agent = agent;
    this.url = url;
    this.id = newId();
    this.context = agent.contexts.current();
    /** Calls a function in the asynchronous context of the call. @type {<R>(act: () => R) => R} */
    this.inScope = scope();
    this.isOver = false;
    this.unjudged = unjudged;
  }

  /** Let it go on. */
  release() {}

  /** @param {Error} _error with which it fails */
  fail(_error) {}

  /** Ask the proxy, as soon as there is a link to it. */
  enter() {
    this.agent.keepAlive.hold();
    this.agent.waiters.enter(this.id, this, () => this.ask());
  }

  ask() {
    const { agent } = this;
    agent.send({ ...connectMessage(agent, this.id, this.url), decide: true, ...contextToWire(this.context) });
  }

  /** @param {any} message the decision */
  receive(message) {
    if (message.type === "decision:error") {
      this.lost(new TrafficMockError(message.code === UNMATCHED ? UNMATCHED : "internal", String(message.message)));
    } else if (message.type === "decision:passthrough") {
      this.report();
      if (!message.judgeHops) this.unjudged();
      this.allow();
    }
  }

  /** Report how it went on. */
  report() {
    const response = responseToWire(connectedAnswer(this.url));
    this.agent.send({ type: "request:response", requestId: this.id, ok: true, response });
  }

  allow() {
    if (this.settle()) this.release();
  }

  /** @param {Error} error why it is refused, or why nobody can decide */
  lost(error) {
    if (this.settle()) this.fail(error);
  }

  /** @returns {boolean} whether it was undecided until now */
  settle() {
    if (this.isOver) return false;
    this.isOver = true;
    this.agent.waiters.leave(this.id);
    this.agent.keepAlive.release();
    return true;
  }
}

/**
 * @param {import('../agent.js').Agent} agent
 * @returns {boolean} whether the proxy must be asked about a connection, because strict mode may be in force
 */
const mayRefuse = ({ state, local }) => state === "starting" || local.mayRefuse;

module.exports = { HeldConnection, mayRefuse };
