/** What every spec imports: the npm fixture, or ours when `E2E_FIXTURE` is `ours`, the app, and the run's addresses. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { sharedApp, startApp } from "./app.mjs";

export { expect } from "@playwright/test";
export { har, proxyUrl, rest, row, rows, answered, settled, socketRow, until } from "./proxy.mjs";
export { startApp } from "./app.mjs";

/** The test side of this run: `npm` or `ours`. */
export const fixture = process.env.E2E_FIXTURE ?? "npm";

const PACKAGES = { npm: "@playwright-backend-mocks/playwright", ours: "trafficmock-playwright" };
const { test: backendMocksTest } = await import(PACKAGES[fixture]);

/** The agent in the applications of this run: `npm` or `ours`. */
export const agent = process.env.E2E_AGENT;

export const upstreamUrl = process.env.E2E_UPSTREAM_URL;

export const test = backendMocksTest.extend({
  /** The application that the run shares. */
  app: async ({}, use) => use(sharedApp),
  /** Start applications that end with the test. */
  ownApp: async ({}, use) => {
    const started = [];
    await use(async (options = {}) => {
      const { announced, app } = await startApp({ clientId: `own-${randomUUID()}`, ...options });
      if (app === undefined) throw new Error(`the app did not start: ${announced.error.message}`);
      started.push(app);
      return Object.assign(app, { clientId: announced.clientId });
    });
    await Promise.all(started.map((app) => app.kill()));
  },
});

/** An upstream address that no other test uses. */
export function fresh(page, query = "") {
  return `${upstreamUrl}/${page}/${randomUUID()}${query}`;
}

/** The same for a socket. */
export function freshSocket(page, query = "") {
  return fresh(page, query).replace("http:", "ws:");
}

/** An address where nobody listens any more. */
export async function deadUrl(scheme = "http") {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return `${scheme}://127.0.0.1:${port}/${randomUUID()}`;
}

/** Meet whoever else comes to this point, upstream's own handlers included. */
export async function meet(name, count = 2) {
  await fetch(`${upstreamUrl}/meet/${name}?count=${count}`);
}

/** How often, and how, the upstream was asked for this address. */
export async function seenUpstream(url) {
  const path = new URL(url).pathname;
  const response = await fetch(`${upstreamUrl}/seen?path=${encodeURIComponent(path)}`);
  return response.json();
}

/** The rest of this test asks for more than the npm proxy gives. */
export function ours(reason) {
  test.skip(process.env.E2E_TARGET !== "ours", `the npm proxy: ${reason}`);
}

/** Marks a test whose failure is the point; the runner checks the error's text. */
export function mustFail(pattern) {
  return { annotation: { type: "must-fail", description: pattern.source } };
}
