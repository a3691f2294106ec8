import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { runNode } from "../lib/child.mjs";
import { hasUndici } from "../lib/clients.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/** Applications that ask for `url` and give up on the word `STOP`. */
const CLIENTS = {
  "fetch of Node":
    "const stop = new AbortController(); given = () => stop.abort(); fetch(url, { signal: stop.signal }).catch(said)",
  "node:http": 'const req = require("node:http").get(url).on("error", said); given = () => req.destroy()',
  ...Object.fromEntries(
    ["undici6", "undici7", "undici8"]
      .filter(hasUndici)
      .map((name) => [
        name,
        `const stop = new AbortController(); given = () => stop.abort(); require(${JSON.stringify(name)}).request(url, { signal: stop.signal }).catch(said)`,
      ]),
  ),
};

describe("an application that gives up while a handler fetches", () => {
  let proxy, worker, server;
  /** What to do with a request that the server got. */
  let arrived;
  before(async () => {
    proxy = await startProxy();
    worker = await startWorker(proxy.url);
    // The application is told to give up by what is served at /stop, as soon as the fetch is at the server.
    server = http.createServer((req, res) => arrived(req, res)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    await worker.route("/slow", (r) => r.result({ action: "fetch", fetchId: r.requestId }));
  });
  after(async () => {
    worker.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await proxy.stop();
  });

  for (const [where, begin] of Object.entries({
    "before the head": () => {},
    "within the body": (res) => res.writeHead(200).write("some"),
  })) {
    for (const [name, code] of Object.entries(CLIENTS)) {
      test(
        `${name}, ${where}: the request at the server is broken off and the process ends`,
        { timeout: 20000 },
        async () => {
          const here = {};
          const closed = new Promise((resolve) => {
            arrived = (req, res) => {
              here[req.url] = res;
              if (req.url === "/slow") begin(res.once("close", resolve));
              if (here["/slow"]) here["/stop"]?.end();
            };
          });
          const base = `http://127.0.0.1:${server.address().port}`;
          const script = `const url = '${base}/slow'; let given; const said = (error) => console.log(error.name)
          const net = require('node:net').connect(${server.address().port}, '127.0.0.1')
          net.write('GET /stop HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n')
          net.once('data', () => given()).on('end', () => net.end())
          ${code}`;
          const { stdout, status } = await runNode(script, { env: { TRAFFICMOCK_PROXY_URL: proxy.url }, ms: 8000 });
          assert.equal(status, 0, stdout);
          await closed;
        },
      );
    }
  }
});
