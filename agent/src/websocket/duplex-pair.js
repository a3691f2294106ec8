"use strict";

const { setImmediate } = require("node:timers");
const { MockSocket, bytesOf } = require("../http/mock-socket.js");
const { secured } = require("../http/secure-methods.js");

const { nextTick } = process;

/** One end of a connection within the process. */
class End extends MockSocket {
  /** @param {boolean} isEncrypted */
  constructor(isEncrypted) {
    super(isEncrypted, undefined, { allowHalfOpen: false });
    this.open();
    /** @type {End | undefined} */
    this.peer = undefined;
    /** @type {(() => void) | undefined} */
    this.drained = undefined;
    /** Whether the first write is the head of the handshake, which the peer does not need. */
    this.skipsHead = false;
  }

  _read() {
    super._read();
    const { peer } = this;
    const drained = peer?.drained;
    if (!peer || !drained) return;
    peer.drained = undefined;
    drained();
  }

  /**
   * @param {{ chunk: any, encoding: BufferEncoding }[]} chunks
   * @param {(error?: Error | null) => void} done
   */
  send(chunks, done) {
    const isHead = this.skipsHead;
    this.skipsHead = false;
    if (isHead) return done();
    // Not within the writer's call: on a network, nothing arrives so early, and
    // WebSocket classes do not expect it.
    nextTick(() => {
      if (!this.peer || this.peer.destroyed || this.peer.push(bytesOf(chunks))) done();
      else this.drained = done;
    });
  }

  /** @param {(error?: Error | null) => void} done */
  _final(done) {
    if (!this.peer?.destroyed) this.peer?.push(null);
    done();
  }

  /**
   * @param {Error | null} error
   * @param {(error?: Error | null) => void} done
   */
  _destroy(error, done) {
    const { peer } = this;
    // As on a network: written data arrives before the close.
    setImmediate(() => {
      if (peer && !peer.destroyed) peer.destroy();
    });
    super._destroy(error, done);
  }
}

const SecureEnd = secured(End);

/**
 * @param {boolean} isEncrypted
 * @returns {[End, End]} two ends; data written to one is read from the other
 */
function duplexPair(isEncrypted) {
  const Kind = isEncrypted ? SecureEnd : End;
  const one = new Kind(isEncrypted);
  const other = new Kind(isEncrypted);
  one.peer = other;
  other.peer = one;
  return [one, other];
}

module.exports = { duplexPair, End };
