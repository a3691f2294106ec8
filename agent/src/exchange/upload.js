"use strict";

const { BodyCopy } = require("./body-copy.js");
const { HANDLER_BODY_BYTES } = require("../protocol/constants.js");

/**
 * The body of a request that is announced before it is there (feature
 * `stream`). It is kept whole until it is known whether a test wants it; if
 * none does, what goes by is copied for the history.
 */
class Upload {
  /** @param {import('../agent.js').Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /** The agent's, when the request was announced. */
    this.links = 0;
    /** Who tells the proxy of it. @type {{ send(message: object, links: number): void }} */
    this.reporter = agent;
    this.copy = new BodyCopy(agent.bodyLimits?.handler ?? HANDLER_BODY_BYTES);
    this.isWhole = false;
    this.isTold = false;
    this.isWanted = false;
    /** @type {() => void} */
    this.onCut = () => {};
    /** @type {() => void} */
    this.onEnd = () => {};
  }

  /** @returns {boolean} whether a test waits for the rest of it */
  get isAwaited() {
    return this.isWanted && !this.isTold;
  }

  /** @param {Uint8Array} chunk */
  push(chunk) {
    if (this.isTold) return;
    this.copy.push(chunk);
    if (this.copy.isCut) this.onCut();
  }

  /** All of it was pushed. */
  end() {
    this.isWhole = true;
    this.onEnd();
  }

  /**
   * Hand it to a test as soon as it is whole, or give up when it is too long.
   * @param {string} id of the request
   * @param {(body: Buffer | null) => void} handed called before the proxy is told; with nothing when it is too long
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
   * Let it pass. The history gets a copy when it is through.
   * @param {string} id of the request
   */
  pass(id) {
    if (this.isTold) return;
    this.copy.limitTo(this.agent.bodyLimits?.history ?? 0);
    this.onCut = () => {};
    this.onEnd = () => this.tell(id);
    if (this.isWhole) this.onEnd();
  }

  /** The body is not reported. */
  forget() {
    this.isTold = true;
    this.onCut = this.onEnd = () => {};
    this.copy = new BodyCopy(0);
  }

  /**
   * Tell the proxy what came of it, once.
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
