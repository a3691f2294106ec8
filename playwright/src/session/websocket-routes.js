"use strict";

const { RouteEntry } = require("./http-routes.js");
const { MockedWebSocket } = require("./mocked-websocket.js");

/** The WebSocket close code of an endpoint that failed (RFC 6455, section 7.4.1). */
const INTERNAL_ERROR = 1011;

/** The WebSocket handlers of a test, newest first; the proxy names the one that gets a WebSocket. */
class WebSocketRoutes {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    /** @type {RouteEntry[]} */
    this.entries = [];
    /** @type {Map<string, MockedWebSocket>} */
    this.sockets = new Map();
  }

  /**
   * Register a handler before all others, for WebSockets that are opened later.
   *
   * @param {import("../arguments/matcher.js").Matcher} matcher
   * @param {Function} handler
   */
  async route(matcher, handler) {
    const entry = new RouteEntry(matcher, handler);
    this.entries.unshift(entry);
    try {
      await this.session.registration.addRoute(entry);
    } catch (error) {
      this.entries = this.entries.filter((each) => each !== entry);
      throw error;
    }
  }

  /** @param {any} message `ws:claim` */
  claimed({ socketId, url, shownUrl = url, routeIds }) {
    const { session } = this;
    const asked = this.entries.filter((entry) => routeIds.includes(entry.id));
    session.whenRead(asked, () => {
      const matches = asked.filter((entry) => this.judge(entry, { url, shownUrl })).map(({ id }) => ({ routeId: id }));
      session.send({ type: "ws:claim-result", socketId, testId: session.id, matches });
    });
  }

  /** @param {any} message `ws:matched` */
  async matched({ socketId, url, shownUrl = url, protocols, routeId }) {
    const { session } = this;
    const entry = /** @type {RouteEntry} */ (this.entries.find(({ id }) => id === routeId));
    const socket = new MockedWebSocket(session, { id: socketId, url, shownUrl, protocols });
    this.sockets.set(socketId, socket);
    try {
      await entry.handler(session.views.webSocketRoute(socket.page));
    } catch (error) {
      if (session.isEnded) return;
      session.errors.thrown(error, `in ${entry.name}, on the WebSocket ${shownUrl}`);
      // Without this the application's WebSocket would stay in CONNECTING.
      socket.page.close({ code: INTERNAL_ERROR, reason: "the test's handler failed" });
      return;
    }
    if (!session.isEnded && !socket.isConnected) session.send({ type: "ws:ensureOpened", socketId });
  }

  /** @param {any} message a message or a close of either end */
  receive(message) {
    this.sockets.get(message.socketId)?.receive(message);
  }

  /**
   * @param {RouteEntry} entry
   * @param {{ url: string, shownUrl: string }} socket
   */
  judge({ matcher }, { url, shownUrl }) {
    try {
      return matcher.matchesUrl(url);
    } catch (error) {
      this.session.errors.thrownByPredicate(error, matcher, shownUrl);
      return false;
    }
  }
}

module.exports = { WebSocketRoutes };
