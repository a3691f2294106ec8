"use strict";

const { AsyncLocalStorage } = require("node:async_hooks");

/**
 * @typedef {object} Waiter
 * @property {<R>(act: () => R) => R} inScope runs calls into the application in the asynchronous context of the
 *   request: the application's `AsyncLocalStorage`s have the values from when it made the request
 * @property {(message: any) => void} [receive] handles a message with its id
 * @property {(error: Error) => void} lost called when no decision will come
 */

/**
 * The requests and WebSockets that wait for the proxy. An {@link import('./exchange/exchange.js').Exchange}, the
 * {@link import('./exchange/streamed-body.js').StreamedBody} of its answer, or a WebSocket bridge gets the messages that
 * carry its id; one from before the handshake waits for that.
 */
class Waiters {
  /** @param {import('./agent.js').Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /** The waiters by id; one that has no id yet is its own key. @type {Map<string | Waiter, Waiter>} */
    this.known = new Map();
    /** Functions to call after the handshake or its failure. @type {(() => void)[]} */
    this.queue = [];
    /** How many failed without a link, so that the proxy has heard of none of them. */
    this.unheard = 0;
  }

  /** Call the functions that wait for the handshake, which has succeeded or failed. */
  negotiated() {
    for (const act of this.queue.splice(0)) act();
  }

  /** @param {Error} error with which every waiter fails */
  dropAll(error) {
    const known = [...this.known.values()];
    this.known.clear();
    this.negotiated();
    for (const waiter of known) waiter.inScope(() => waiter.lost(error));
  }

  /** @param {any} message of the proxy */
  receive(message) {
    const waiter = this.known.get(message.requestId ?? message.socketId);
    waiter?.inScope(() => waiter.receive?.(message));
  }

  /**
   * Add a waiter for messages with an id.
   * @param {string} id
   * @param {Waiter} waiter its `lost` is called if there is no link, or when it is lost
   * @param {() => void} announce called once the link is up
   */
  enter(id, waiter, announce) {
    const { agent } = this;
    // A thread of a pool may stand still between its jobs, and cannot have come back by itself.
    agent.need();
    if (agent.state === "starting") this.queue.push(() => waiter.inScope(() => this.enter(id, waiter, announce)));
    else if (agent.state === "up") {
      this.known.set(id, waiter);
      announce();
    } else this.#fail(waiter);
  }

  /** @param {Waiter} waiter for which there is no link */
  #fail(waiter) {
    this.unheard += 1;
    waiter.lost(this.agent.error);
  }

  /**
   * Add a request that is not announced yet, because its body is still read: a lost link fails it.
   * @param {Waiter} waiter
   * @returns {boolean} whether there is a link; if not, the request has failed already
   */
  enterUnannounced(waiter) {
    const isUp = this.agent.state === "up";
    if (isUp) this.known.set(waiter, waiter);
    else this.#fail(waiter);
    return isUp;
  }

  /** @param {string | Waiter} id */
  leave(id) {
    this.known.delete(id);
  }

  /**
   * Wait for the handshake, also for one of a link that was lost.
   * @param {() => void} act called once the proxy's features are known, or it cannot be reached
   */
  whenNegotiated(act) {
    this.agent.need();
    const { state, keepAlive } = this.agent;
    if (state !== "starting") return act();
    keepAlive.hold();
    const bound = AsyncLocalStorage.bind(act);
    this.queue.push(() => {
      keepAlive.release();
      bound();
    });
  }
}

module.exports = { Waiters };
