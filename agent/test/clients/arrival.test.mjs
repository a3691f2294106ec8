import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { deferred, rest, streamingClients } from "../lib/streams.mjs";
import { startWorker } from "../lib/worker.mjs";

const PAUSE_MS = 100;
const { "undici iterable": _, ...clients } = await streamingClients();

describe("a handler's fetch tells when the pieces of a body came", () => {
  let proxy, server, worker, agent;
  before(async () => {
    proxy = await startProxy();
    server = http.createServer(async (_request, response) => {
      response.write("one");
      await setTimeout(PAUSE_MS);
      response.end("second");
    });
    const listening = deferred();
    server.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url, { features: ["chain"] });
  });
  after(async () => {
    worker.close();
    await agent.stop();
    server.close();
    server.closeAllConnections();
    await proxy.stop();
  });

  for (const [name, { call }] of Object.entries(clients)) {
    test(name, async () => {
      const path = `/slowly-${name}`.replaceAll(/[ :]/g, "-");
      const told = deferred();
      await worker.routeGlob(`**${path}`, async ({ fetch, fulfill }) => {
        const { response } = await fetch();
        told.resolve(response.pieces);
        fulfill({ bodyBase64: response.bodyBase64 });
      });
      const { chunks } = await call(`http://127.0.0.1:${server.address().port}${path}`);
      await rest(chunks);
      const pieces = await told.promise;
      assert.deepEqual(
        pieces.map(([, size]) => size),
        [3, 6],
      );
      assert.ok(pieces[1][0] - pieces[0][0] >= PAUSE_MS / 2, String(pieces));
    });
  }
});
