"use strict";

const headers = require("../protocol/headers.js");
const { phraseOf } = require("./reason-phrase.js");
const { isBodiless } = require("../exchange/report.js");
const { pairsOfMap, trailersOf } = require("./handlers.js");
const { requestAbortedError } = require("./undici-errors.js");

/**
 * Gets the parts of an answer.
 *
 * @typedef {object} Receiver
 * @property {() => void} connected
 * @property {(chunk: any) => void} bodySent
 * @property {() => void} requestSent
 * @property {(status: number, statusText: string, pairs: headers.Pairs) => void} informational called for a response
 *   before the final one
 * @property {(status: number, statusText: string, pairs: headers.Pairs) => void} head
 * @property {(chunk: Buffer) => void} data
 * @property {(trailers: headers.Pairs) => void} end
 * @property {(error: Error) => void} fail
 */

/** A handler for any version of undici that hands an answer on, part by part. */
class RelayedAnswer {
  /**
   * @param {string} method of the request
   * @param {Receiver} receiver
   */
  constructor(method, receiver) {
    this.method = method;
    this.receiver = receiver;
    this.isPaused = false;
    this.isStopped = false;
    /** Lets undici read on. @type {() => void} */
    this.readOn = () => {};
    /** @type {(reason: any) => void} */
    this.abort = () => {};
    /** The controller of undici 7. @type {any} */
    this.controller = undefined;
  }

  pause() {
    this.isPaused = true;
    this.controller?.pause();
  }

  resume() {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.readOn();
  }

  /** @param {any} [reason] why nothing more is read */
  stop(reason) {
    if (this.isStopped) return;
    this.isStopped = true;
    this.abort(reason ?? requestAbortedError());
  }

  /** @param {(reason: any) => void} abort */
  onConnect(abort) {
    this.abort = abort;
    if (this.isStopped) abort(requestAbortedError());
    else this.receiver.connected();
  }

  /** @param {any} controller */
  onRequestStart(controller) {
    this.controller = controller;
    this.readOn = () => controller.resume();
    this.onConnect((reason) => controller.abort(reason));
  }

  /** @param {any} chunk */
  onBodySent(chunk) {
    if (!this.isStopped) this.receiver.bodySent(chunk);
  }

  onRequestSent() {
    if (!this.isStopped) this.receiver.requestSent();
  }

  /**
   * @param {number} status
   * @param {any[]} raw
   * @param {() => void} resume
   * @param {string} statusText
   */
  onHeaders(status, raw, resume, statusText) {
    this.readOn = resume;
    this.head(status, phraseOf(statusText), headers.fromRaw(raw));
    return !this.isPaused;
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
    if (this.isStopped) return;
    if (status < 200) return this.receiver.informational(status, statusText, pairs);
    this.receiver.head(status, statusText, pairs);
    // undici may wait for a body that does not exist.
    if (isBodiless(this.method, status)) this.receiver.end([]);
  }

  /** @param {Buffer} chunk */
  onData(chunk) {
    if (!this.isStopped) this.receiver.data(chunk);
    return !this.isPaused;
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
    if (!this.isStopped) this.receiver.end(headers.fromRaw(raw ?? []));
  }

  /**
   * @param {any} controller
   * @param {any} map
   */
  onResponseEnd(controller, map) {
    if (!this.isStopped) this.receiver.end(trailersOf(controller, map));
  }

  /** @param {Error} error */
  onError(error) {
    if (!this.isStopped) this.receiver.fail(error);
  }

  /**
   * @param {any} _controller
   * @param {Error} error
   */
  onResponseError(_controller, error) {
    this.onError(error);
  }
}

module.exports = { RelayedAnswer };
