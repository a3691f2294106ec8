"use strict";

const { BodyCopy } = require("./body-copy.js");

/**
 * The body of a request that is announced before its body is complete (feature
 * `stream`). It is kept, up to the limit for handlers, until the decision. If no test
 * owns the request, only the copy for the history is kept.
 */
class Upload {
  /** @param {import('../agent.js').Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /** The agent's `links` when the request was announced. */
    this.links = 0;
    /** Sends the message with the body. @type {{ send(message: object, links: number): void }} */
    this.reporter = agent;
    this.copy = new BodyCopy(agent.bodyLimits.handler);
    this.isWhole = false;
    this.isTold = false;
    this.isWanted = false;
    /** @type {() => void} */
    this.onCut = () => {};
    /** @type {() => void} */
    this.onEnd = () => {};
  }

  /** @returns {boolean} whether a test waits for the rest of the body */
  get isAwaited() {
    return this.isWanted && !this.isTold;
  }

  /** @param {Uint8Array} chunk */
  push(chunk) {
    if (this.isTold) return;
    this.copy.push(chunk);
    if (this.copy.isCut) this.onCut();
  }

  /** Mark the body as complete. */
  end() {
    this.isWhole = true;
    this.onEnd();
  }

  /**
   * Send the body to a test as soon as it is complete, or only its size when it is too long.
   * @param {string} id of the request
   * @param {(body: Buffer | null) => void} handed called before the message is sent; with `null` if the body is too long
   */
  hand(id, handed) {
    this.isWanted = true;
    this.onCut = this.onEnd = () => {
      const { isCut, size } = this.copy;
      if (isCut) {
        this.copy = new BodyCopy(0);
        this.copy.size = size;
      }
      handed(isCut ? null : this.copy.bytes());
      this.tell(id);
    };
    if (this.copy.isCut || this.isWhole) this.onEnd();
  }

  /**
   * Keep only the copy for the history, and send it when the body is complete.
   * @param {string} id of the request
   */
  pass(id) {
    if (this.isTold) return;
    this.copy.limitTo(this.agent.bodyLimits.history);
    this.onCut = () => {};
    this.onEnd = () => this.tell(id);
    if (this.isWhole) this.onEnd();
  }

  /** Drop the body: it is not reported. */
  forget() {
    this.isTold = true;
    this.onCut = this.onEnd = () => {};
    this.copy = new BodyCopy(0);
  }

  /**
   * Send the copy of the body, once.
   * @param {string} id of the request
   */
  tell(id) {
    if (this.isTold) return;
    this.isTold = true;
    this.onCut = this.onEnd = () => {};
    const { copy } = this;
    const bytes = copy.bytes();
    this.copy = new BodyCopy(0);
    this.reporter.send(
      {
        type: "request:body",
        requestId: id,
        bodyBase64: bytes.length ? bytes.toString("base64") : null,
        ...((copy.isCut || !this.isWhole) && { truncated: true, bodySize: copy.size }),
      },
      this.links,
    );
  }
}

module.exports = { Upload };
