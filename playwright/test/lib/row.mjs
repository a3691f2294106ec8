/* What the rows get: the fixtures, an application, its upstream and a proxy, of tests/e2e/node. */
import http from "node:http";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "trafficmock-playwright/core";
import { expect, test as base } from "trafficmock-playwright";
import { sharedApp } from "../../../tests/e2e/node/lib/app.mjs";
import { proxyUrl, rest } from "../../../tests/e2e/node/lib/proxy.mjs";

export { expect };

export const upstreamUrl = process.env.E2E_UPSTREAM_URL;

/**
 * A request with a connection of its own: after a reset the npm agent's interceptor can report the failure of the last
 * request on a connection for the next one.
 */
export const ALONE = { connection: "close" };

/** One row's surroundings. */
class RowContext {
  constructor(trafficmock) {
    this.trafficmock = trafficmock;
    this.base = randomUUID().slice(0, 8);
  }

  /** An upstream address that no other row uses. */
  url(page, query = "") {
    return `${upstreamUrl}/${page}/${this.base}${query}`;
  }

  socketUrl(page) {
    return this.url(page).replace("http:", "ws:");
  }

  /** Let the application send a request by `node:http`; tell how it ended. */
  get(url, command) {
    return sharedApp.http(url, command);
  }

  /** Let the application send a request by `fetch`. */
  fetch(url, command) {
    return sharedApp.fetch(url, command);
  }

  alive() {
    return sharedApp.alive();
  }

  /** Let the application begin a request; give the key of its outcome. */
  async begin(url, command) {
    const key = randomUUID();
    await sharedApp.begin(key, url, { kind: "http", ...command });
    return key;
  }

  outcome(key) {
    return sharedApp.outcome(key);
  }

  /** Let the application open a WebSocket. */
  socket(url, command) {
    return sharedApp.socket(url, { key: randomUUID(), ...command });
  }

  /** The same, once the first thing happened to it. */
  async openSocket(url, command) {
    const socket = await this.socket(url, command);
    await socket.events(1);
    return socket;
  }

  /** Route to a text; give the handler. */
  async answer(url, body, options) {
    const handler = (route) => route.fulfill({ body });
    await this.trafficmock.route(url, handler, options);
    return handler;
  }

  /** Begin a wait, act, and give what came. */
  async expect(kind, wanted, act, options) {
    const call = kind === "request" ? "waitForRequest" : "waitForResponse";
    const wait = this.trafficmock[call](wanted, options);
    // A wait that fails during the act is judged after it.
    const [found] = await Promise.allSettled([wait, act()]);
    if (found.status === "rejected") throw found.reason;
    return found.value;
  }

  /** Ask the upstream directly. */
  async upstream(page) {
    const response = await fetch(`${upstreamUrl}/${page}`);
    return response.json();
  }

  /** Go around over the network, until something is so. */
  async until(isSo) {
    while (!isSo()) await this.upstream("seen?path=/nothing");
  }

  /** Take errors once there are some; a handler may still be on its way out. */
  async lateErrors() {
    let errors = [];
    await this.until(() => (errors = this.trafficmock.takeErrors()).length > 0);
    return errors;
  }

  async rest(path) {
    return (await rest(path)).body;
  }

  /** What the proxy recorded of a URL, newest first; all of it would bring large bodies of other tests. */
  async recorded(url) {
    const { entries } = await this.rest("/api/history?limit=10");
    return entries.filter(({ request }) => request.url === url);
  }

  /** Send a request through the forward proxy, as an application does; give the body. */
  throughProxy(url, headers) {
    const { hostname, port } = new URL(proxyUrl);
    return new Promise((resolve, reject) => {
      const asked = http.get(
        { hostname, port, path: url, headers: { host: new URL(url).host, ...headers } },
        (answer) => {
          let body = "";
          answer.setEncoding("utf8").on("data", (text) => (body += text));
          answer.on("end", () =>
            answer.statusCode === 200 ? resolve(body) : reject(new Error(`${answer.statusCode} ${body}`)),
          );
        },
      );
      asked.on("error", reject);
    });
  }

  /** Let a test of its own run within this one; give what it gives, after its end. */
  async inAnotherTest(run) {
    const trafficmock = await connect({ title: `within ${this.base}`, proxyUrl });
    try {
      return await run(trafficmock);
    } finally {
      await trafficmock.end();
    }
  }
}

export const test = base.extend({
  t: async ({ trafficmock }, use) => use(new RowContext(trafficmock)),
  /** A directory that goes with the test. */
  directory: async ({}, use) => {
    const directory = await mkdtemp(join(tmpdir(), "trafficmock-rows-"));
    await use(directory);
    await rm(directory, { recursive: true });
  },
});

/** Marks a row that states something else here than on the Python side, where both are right. */
export const differs = (reason) => ({ annotation: { type: "differs", description: reason } });

/** Says why a row has no meaning here. */
export const meaningless = (reason) => ({ annotation: { type: "meaningless", description: reason } });

/** The error of what must fail. */
export async function errorOf(run) {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error("it should fail");
}
