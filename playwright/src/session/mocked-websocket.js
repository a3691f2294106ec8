"use strict";

const { UsageError } = require("../errors.js");

/** @typedef {{ code?: number, reason?: string }} Close */

/** One end of a mocked WebSocket, with the test's handlers for its messages and its close. */
class WebSocketSide {
  /**
   * @param {MockedWebSocket} socket
   * @param {"page" | "server"} name `page` is the application's end, `server` that of the real server
   */
  constructor(socket, name) {
    this.socket = socket;
    this.name = name;
    /** @type {((message: string | Buffer) => unknown) | undefined} */
    this.onMessage = undefined;
    /** @type {((code: number | undefined, reason: string | undefined) => unknown) | undefined} */
    this.onClose = undefined;
    this.isClosed = false;
    /** @type {any} the test's `WebSocketRoute` for this end */
    this.view = undefined;
  }

  /**
   * Send a message to this end; without effect once it is closed.
   * @param {string | Uint8Array} message
   */
  send(message) {
    const isBase64 = typeof message !== "string";
    this.forward({ data: isBase64 ? Buffer.from(message).toString("base64") : message, isBase64 });
  }

  /** @param {{ data: string, isBase64: boolean }} frame */
  forward({ data, isBase64 }) {
    const type = this.name === "page" ? "ws:sendToPage" : "ws:sendToServer";
    this.socket.send({ type, data, isBase64 });
  }

  /**
   * @param {Close} [options]
   * @param {boolean} [wasClean]
   */
  close({ code, reason } = {}, wasClean = true) {
    this.socket.send({
      type: this.name === "page" ? "ws:closePage" : "ws:closeServer",
      ...(code !== undefined && { code }),
      ...(reason !== undefined && { reason }),
      wasClean,
    });
  }
}

/** A WebSocket that a test owns. */
class MockedWebSocket {
  /**
   * @param {import("./session.js").Session} session
   * @param {{ id: string, url: string, shownUrl: string, protocols: string[] }} opened `shownUrl` is that for texts
   */
  constructor(session, { id, url, shownUrl, protocols }) {
    this.session = session;
    this.id = id;
    this.url = url;
    this.shownUrl = shownUrl;
    this.protocols = protocols;
    this.isConnected = false;
    this.page = new WebSocketSide(this, "page");
    this.server = new WebSocketSide(this, "server");
  }

  /**
   * Connect to the real server, and return its end.
   *
   * @param {WebSocketSide} side whose `connectToServer` was called
   * @throws {UsageError} it is connected already, or `side` is the server's end
   */
  connect(side) {
    if (side === this.server) {
      throw new UsageError("connectToServer must be called on the page-side WebSocketRoute");
    }
    if (this.isConnected) throw new UsageError("Already connected to the server");
    this.isConnected = true;
    this.send({ type: "ws:connect" });
    return this.server;
  }

  /** @param {any} message a message or a close of one end, for the test's handler or for the other end */
  receive(message) {
    if (message.type === "ws:messageFromPage") this.frame(this.page, this.server, message);
    else if (message.type === "ws:messageFromServer") this.frame(this.server, this.page, message);
    else if (message.type === "ws:closePage") this.closed(this.page, this.server, message);
    else this.closed(this.server, this.page, message);
  }

  /**
   * @param {WebSocketSide} from
   * @param {WebSocketSide} to
   * @param {{ data: string, isBase64: boolean }} frame
   */
  frame(from, to, frame) {
    const { onMessage } = from;
    const data = frame.isBase64 ? Buffer.from(frame.data, "base64") : frame.data;
    if (onMessage) this.run(() => onMessage(data));
    else if (to === this.page || this.isConnected) to.forward(frame);
  }

  /**
   * @param {WebSocketSide} from
   * @param {WebSocketSide} to
   * @param {Close & { wasClean: boolean }} close
   */
  closed(from, to, { code, reason, wasClean }) {
    // One close may be reported several times.
    if (from.isClosed) return;
    from.isClosed = true;
    const { onClose } = from;
    if (onClose) this.run(() => onClose(code, reason));
    else if (to === this.page || this.isConnected) to.close({ code, reason }, wasClean);
  }

  /** @param {() => unknown} handler of the test; its result is not awaited */
  async run(handler) {
    try {
      await handler();
    } catch (error) {
      if (!this.session.isEnded) this.session.errors.thrown(error, `in a handler of the WebSocket ${this.shownUrl}`);
    }
  }

  /** @param {object} message */
  send(message) {
    this.session.send({ ...message, socketId: this.id });
  }
}

module.exports = { MockedWebSocket, WebSocketSide };
