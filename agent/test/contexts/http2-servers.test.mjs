import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { selfSigned } from "../lib/certificate.mjs";
import { Owners } from "../lib/owners.mjs";
import { startProxy } from "../lib/proxy.mjs";

const AMBIGUOUS = "ERR_TRAFFICMOCK_AMBIGUOUS_ROUTE";

const ask = () =>
  new Promise((resolve) => {
    http
      .get("http://nowhere.test/kind?who=x", async (response) => resolve((await response.toArray()).join("")[0]))
      .on("error", (error) => resolve(error.code));
  });

/** How a server may answer: each asks the third party, some of them twice. */
const WAYS = {
  "the request's handler": (server) => server.on("request", async (_, response) => response.end(await ask())),
  "the request's body": (server) =>
    server.on("request", (request, response) => {
      request.resume().on("end", async () => response.end(await ask()));
    }),
  "the stream's handler": (server) =>
    server.on("stream", async (stream) => {
      stream.respond({ ":status": 200 });
      stream.end(await ask());
    }),
  "the stream's body": (server) =>
    server.on("stream", (stream) => {
      stream.respond({ ":status": 200 });
      stream.resume().on("end", async () => stream.end(await ask()));
    }),
};

describe("a server of node:http2 works for the test of each request", () => {
  let proxy, owners, attached;
  const { key, cert } = selfSigned();
  const secure = { key, cert, allowHTTP1: true };
  before(async () => {
    proxy = await startProxy();
    owners = await Owners.start(proxy, ["A", "B"]);
    attached = await startTrafficMock({ proxyUrl: proxy.url });
  });
  after(async () => {
    await attached.stop();
    owners.close();
    await proxy.stop();
  });

  async function listening(t, server) {
    t.after(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    return server.address().port;
  }

  /** Ask for all at once over one session. */
  async function answers(session) {
    const names = ["A", "none", "B"];
    const streams = names.map((name) => {
      const stream = session.request({ ":method": "POST", ...(name !== "none" && owners.headers(name)) });
      stream.end("body");
      return stream;
    });
    const said = await Promise.all(streams.map(async (stream) => (await stream.toArray()).join("")));
    session.close();
    return Object.fromEntries(names.map((name, at) => [name, said[at]]));
  }

  for (const [way, answer] of Object.entries(WAYS)) {
    test(`in ${way}`, async (t) => {
      const plain = http2.createServer();
      const tls = http2.createSecureServer(secure);
      const expected = { A: "A", none: AMBIGUOUS, B: "B" };
      for (const [scheme, server] of [
        ["http", plain],
        ["https", tls],
      ]) {
        answer(server);
        const port = await listening(t, server);
        const session = http2.connect(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false });
        assert.deepEqual(await answers(session), expected, scheme);
      }
    });
  }

  test("of HTTP/1, too", async (t) => {
    const server = http2.createSecureServer(secure);
    WAYS["the request's handler"](server);
    const port = await listening(t, server);
    const options = { port, host: "127.0.0.1", rejectUnauthorized: false, headers: owners.headers("B"), agent: false };
    const [response] = await once(https.get(options), "response");
    assert.equal((await response.toArray()).join(""), "B");
  });
});
