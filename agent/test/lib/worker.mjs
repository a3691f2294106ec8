import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";

/**
 * A test worker that speaks protocol 3 in the raw: its handler decides.
 * `waitFor(type, test)` resolves with a message, past or to come.
 */
export async function startWorker(proxyUrl, { token, context, features = [] } = {}) {
  const socket = new WebSocket(proxyUrl.replace("http", "ws") + "/ws");
  const worker = new Worker(socket);
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  worker.send({
    type: "hello",
    protocolVersion: 3,
    packageVersion: "0.1.0",
    role: "playwright",
    clientId: "playwright-0",
    workerId: "0",
    ...(token && { token }),
    features: ["headers-list", ...(context ? ["context"] : []), ...features],
  });
  await worker.waitFor("hello:ok");
  worker.testId = randomUUID();
  worker.send({
    type: "test:register",
    testId: worker.testId,
    title: "a test",
    file: "a.spec.js",
    workerId: "0",
    ...(context && { context }),
  });
  await worker.waitFor("test:registered");
  return worker;
}

class Worker {
  constructor(socket) {
    this.socket = socket;
    this.seen = [];
    this.waiters = [];
    this.routes = new Map();
    this.sockets = new Map();
    socket.on("message", (data) => this.receive(JSON.parse(data)));
  }

  send(message) {
    this.socket.send(JSON.stringify(message));
  }

  receive(message) {
    this.seen.push(message);
    for (const waiter of this.waiters.splice(0)) {
      if (waiter.test(message)) waiter.resolve(message);
      else this.waiters.push(waiter);
    }
    const { type } = message;
    if (type === "ping") this.send({ type: "pong", at: message.at });
    if (type === "request:claim") {
      this.send({
        type: "request:claim-result",
        requestId: message.requestId,
        testId: this.testId,
        matches: this.matches(message.request.url, "http"),
      });
    }
    if (type === "ws:claim") {
      this.send({
        type: "ws:claim-result",
        socketId: message.socketId,
        testId: this.testId,
        matches: this.matches(message.url, "websocket"),
      });
    }
    if (type === "request:matched" || type === "handler:run") void this.handle(message);
    if (type === "ws:matched") this.routeFor(message.url, "websocket")?.handler(this.socketRoute(message));
    if (type.startsWith("ws:") && message.socketId) this.sockets.get(message.socketId)?.(message);
  }

  matches(url, kind) {
    return [...this.routes]
      .filter(([, route]) => route.kind === kind && route.test(url))
      .map(([routeId]) => ({ routeId }));
  }

  routeFor(url, kind) {
    return [...this.routes.values()].reverse().find((route) => route.kind === kind && route.test(url));
  }

  /** @param {string} part of the URLs that the handler decides about */
  async route(part, handler, kind = "http") {
    const routeId = randomUUID();
    this.routes.set(routeId, { kind, handler, test: (url) => url.includes(part) });
    this.send({ type: "route:register", routeId, testId: this.testId, kind, matcher: { predicate: true } });
    await this.waitFor("route:registered", (message) => message.routeId === routeId);
    return routeId;
  }

  /** @param {string} glob of one path at the end, which the proxy judges by itself */
  async routeGlob(glob, handler) {
    const routeId = randomUUID();
    this.routes.set(routeId, { kind: "http", handler, test: (url) => url.endsWith(glob.slice(2)) });
    this.send({ type: "route:register", routeId, testId: this.testId, kind: "http", matcher: { urlGlob: glob } });
    await this.waitFor("route:registered", (message) => message.routeId === routeId);
    return routeId;
  }

  async handle({ requestId, routeId, runId, request }) {
    const result = (value, more) =>
      this.send({ type: "handler:result", requestId, ...(runId && { runId }), result: value, ...more });
    const fetch = async (options = {}) => {
      const fetchId = randomUUID();
      result({ action: "fetch", fetchId, ...options });
      return this.waitFor("fetch:done", (message) => message.fetchId === fetchId);
    };
    const fulfill = (response) =>
      result({
        action: "fulfill",
        response: { status: 200, statusText: "", headers: {}, bodyBase64: null, ...response },
      });
    const { handler } = runId ? this.routes.get(routeId) : this.routeFor(request.url, "http");
    await handler({
      requestId,
      request,
      result,
      fetch,
      fulfill,
      text: (body, more = {}) => fulfill({ bodyBase64: Buffer.from(body).toString("base64"), ...more }),
      continue: (overrides) => result({ action: "continue", ...(overrides && { overrides }) }),
      abort: (errorCode) => result({ action: "abort", errorCode }),
    });
  }

  socketRoute({ socketId, url, protocols }) {
    const messages = [];
    const say = (type, more = {}) => this.send({ type, socketId, ...more });
    const route = { url, protocols, messages, say, onMessage: () => {} };
    this.sockets.set(socketId, (message) => {
      messages.push(message);
      route.onMessage(message);
    });
    return route;
  }

  /** @returns {Promise<any>} */
  waitFor(type, test = () => true, ms = 5000) {
    const matches = (message) => message.type === type && test(message);
    const known = this.seen.find(matches);
    if (known) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no ${type} within ${ms} ms`)), ms);
      this.waiters.push({
        test: matches,
        resolve: (message) => {
          clearTimeout(timer);
          resolve(message);
        },
      });
    });
  }

  close() {
    this.socket.close();
  }
}
