import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/*
 * `Expect: 100-continue`: every decision, by every kind of server. The application is told to go on at most once, the
 * body leaves when the server wants it, and an answer before the body arrives.
 */

const BODY = "the body";

/** Answers to a head. */
const SERVERS = {
  100: "HTTP/1.1 100 Continue\r\n\r\n",
  417: "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n",
  413: "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
  307: "HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
  "103, 100": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
  none: "",
};
const MADE = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
const EARLY = { 417: 417, 413: 413, 307: 307 };

const CHANGED = {
  headersList: [
    ["Expect", "100-continue"],
    ["Content-Length", String(BODY.length)],
    ["X-New", "1"],
  ],
};

/** What tests do with the request; none, or the routes' decision. */
const DECISIONS = {
  none: undefined,
  fallback: (route) => route.result({ action: "fallback" }),
  continue: (route) => route.continue(),
  "continue, later": (route) => setTimeout(() => route.continue(), 120),
  "continue with headers": (route) => route.continue(CHANGED),
  "continue with a body": (route) => route.continue({ bodyBase64: Buffer.from("another!").toString("base64") }),
  fetch: async (route) => route.fulfill((await route.fetch({ maxRedirects: 0 })).response),
  fulfill: (route) => route.text("mocked", { status: 202 }),
  abort: (route) => route.abort("connectionreset"),
};

/** Clients: each writes its body as its pattern has it. */
const CLIENTS = {
  "as Node's documentation does": (req) => {
    req.on("continue", () => req.end(BODY));
    req.flushHeaders();
  },
  // The S3 client of AWS: also without a 100, after some time.
  "as AWS's clients do": (req) => {
    const timer = setTimeout(() => write(), 3000);
    const stop = () => clearTimeout(timer);
    const write = () => {
      stop();
      if (!req.writableEnded) req.end(BODY);
    };
    req.on("continue", write).on("response", stop).on("error", stop);
    req.flushHeaders();
  },
  "that does not wait": (req) => req.end(BODY),
};

/** A server that notes what came before its answer to the head, and the whole. */
async function startServer() {
  const kept = [];
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    let own;
    const begin = (head) => {
      const kind = decodeURIComponent(/^\S+ \/(\S+?)\//.exec(head)[1]);
      own = { head, kind, early: "", body: "", isAsked: false };
      kept.push(own);
      // What would come at once comes first.
      setTimeout(() => {
        own.isAsked = true;
        socket.write(SERVERS[kind]);
        answer();
      }, 20);
    };
    const answer = () => {
      const length = Number(/content-length: *(\d+)/i.exec(own.head)[1]);
      if (own.isAsked && !(own.kind in EARLY) && own.early.length + own.body.length >= length) {
        socket.write(MADE);
        own = undefined;
      }
    };
    let waiting = "";
    socket.on("data", (data) => {
      waiting += data.toString("latin1");
      if (!own) {
        const end = waiting.indexOf("\r\n\r\n");
        if (end < 0) return;
        begin(waiting.slice(0, end));
        waiting = waiting.slice(end + 4);
      }
      own[own.isAsked ? "body" : "early"] += waiting;
      waiting = "";
      answer();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    take: () => kept.splice(0),
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Make a request, and tell what the application saw. */
async function call(url, write) {
  const seen = { continues: 0, informed: [] };
  const agent = new http.Agent({ keepAlive: true });
  const headers = { Expect: "100-continue", "Content-Length": BODY.length };
  const req = http.request(url, { method: "PUT", headers, agent });
  req.on("continue", () => (seen.continues += 1)).on("information", ({ statusCode }) => seen.informed.push(statusCode));
  const answer = new Promise((resolve) => {
    req.on("response", (response) => resolve({ status: response.statusCode, response }));
    req.on("error", (error) => resolve({ error: error.code }));
  });
  write(req);
  const { response, ...told } = await answer;
  if (response) seen.body = Buffer.concat(await response.toArray()).toString();
  req.destroy();
  agent.destroy();
  return { ...seen, ...told };
}

describe("Expect: 100-continue", () => {
  let proxy, server, worker, agent;
  before(async () => {
    server = await startServer();
    proxy = await startProxy();
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url, { features: ["chain"] });
    for (const [at, decide] of Object.values(DECISIONS).entries()) {
      if (decide) await worker.route(`/decision-${at}`, decide);
    }
  });
  after(async () => {
    worker.close();
    await agent.stop();
    server.stop();
    await proxy.stop();
  });

  for (const [client, write] of Object.entries(CLIENTS)) {
    for (const kind of Object.keys(SERVERS)) {
      for (const [at, decision] of Object.keys(DECISIONS).entries()) {
        const waits = client !== "that does not wait";
        const isUsual = ["100", "417"].includes(kind) && client !== "as AWS's clients do";
        if (!isUsual && !process.env.TRAFFICMOCK_DEEP) continue;
        // Each waits a second. Of a request that passes unasked, only the client knows how long.
        if (kind === "none" && !(client === "as Node's documentation does" && /^continue/.test(decision))) continue;
        test(`${client}, a server that says ${kind}: ${decision}`, { timeout: 10000 }, async () => {
          const seen = await call(`${server.url}/${encodeURIComponent(kind)}/decision-${at}`, write);
          const [got] = server.take();
          const isMock = decision === "fulfill" || decision === "abort";
          const early = EARLY[kind];
          if (decision === "abort") assert.deepEqual([seen.error, got], ["ECONNRESET", undefined]);
          else if (decision === "fulfill") assert.deepEqual([seen.status, seen.body, got], [202, "mocked", undefined]);
          else assert.equal(seen.status, early ?? 201);
          assert.ok(seen.continues <= 1, `${seen.continues} times told to go on`);
          if (waits && (isMock || (!early && kind !== "none"))) assert.equal(seen.continues, 1);
          if (decision === "none" && early) assert.equal(seen.continues, 0);
          assert.equal(seen.informed.filter((status) => status === 100).length, seen.continues);
          if (isMock) return;
          const sent = decision === "continue with a body" ? "another!" : BODY;
          if (waits || !/none|fallback|^continue(, later)?$/.test(decision)) {
            assert.equal(got.early, "", "the body came before the server wanted it");
            assert.equal(got.body, early ? "" : sent);
          }
        });
      }
    }
  }
});
