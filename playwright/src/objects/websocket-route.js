"use strict";

/** @import { WebSocketRoute as PublicWebSocketRoute } from "../../index.js" */

const { checked } = require("../arguments/options.js");

/**
 * One end of a WebSocket: the application's, or the real server's (Playwright's `WebSocketRoute`).
 * @implements {PublicWebSocketRoute}
 */
class WebSocketRoute {
  #side;

  /** @param {import("../session/mocked-websocket.js").WebSocketSide} side */
  constructor(side) {
    this.#side = side;
  }

  url() {
    return this.#side.socket.url;
  }

  protocols() {
    return [...this.#side.socket.protocols];
  }

  /** @param {string | Uint8Array} message */
  send(message) {
    this.#side.send(message);
  }

  /** @param {{ code?: number, reason?: string }} [options] */
  async close(options) {
    this.#side.close(checked("webSocketRoute.close", options));
  }

  /** @param {(message: string | Buffer) => unknown} handler */
  onMessage(handler) {
    this.#side.onMessage = handler;
  }

  /** @param {(code: number | undefined, reason: string | undefined) => unknown} handler */
  onClose(handler) {
    this.#side.onClose = handler;
  }

  /** @returns {WebSocketRoute} */
  connectToServer() {
    const { socket } = this.#side;
    return socket.session.views.webSocketRoute(socket.connect(this.#side));
  }
}

module.exports = { WebSocketRoute };
