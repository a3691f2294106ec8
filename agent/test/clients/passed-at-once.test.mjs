import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import FormData from "form-data";
import { HttpProxyAgent } from "http-proxy-agent";
import { startTrafficMock } from "../../index.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startRawServer } from "../lib/raw-server.mjs";
import { startWorker } from "../lib/worker.mjs";

/*
 * What the agent lets pass by itself is compared with the same calls before it was attached: the bytes at the server, the
 * calls of the application's classes, the events of the request, and their order.
 */

const MOST_TRIES = 100;
/** The age of a lease in which no request renews it; ms. */
const NEW_MS = 400;

/** What happens, with the tick of each event. */
class Log {
  constructor() {
    this.lines = [];
    this.isInCall = false;
  }

  /** Make a call of `node:http`: until it returns, events are of the same stack. */
  call(act) {
    this.isInCall = true;
    try {
      return act();
    } finally {
      this.isInCall = false;
    }
  }

  /** Note a call of a class, with what it may look at. */
  called(name, self, args) {
    const { stack } = new Error();
    this.lines.push([
      name,
      this.isInCall ? "in the call" : "later",
      stack.includes("node:https") ? "https" : "http",
      self?.constructor?.name,
      args.map((arg) =>
        arg?.constructor === Object ? Object.keys(arg).sort() : (arg?.constructor?.name ?? typeof arg),
      ),
    ]);
  }

  /** Note the events of a request, until it is closed. */
  async events(req) {
    const { emit } = req;
    req.emit = (name, ...args) => {
      const [{ code, message } = {}] = args;
      this.lines.push([name, this.isInCall ? "in the call" : "later", ...(name === "error" ? [code, message] : [])]);
      return emit.call(req, name, ...args);
    };
    req.on("error", () => {});
    req.on("response", (response) => response.on("error", () => {}).resume());
    await new Promise((resolve) => req.on("close", resolve));
    this.lines.push([req.destroyed, req.aborted, req.closed, req.errored?.code, req.writableFinished]);
  }
}

/** The body of a request in the history. */
const textOf = ({ bodyBase64 }) => Buffer.from(bodyBase64 ?? "", "base64").toString();

const METHODS = ["addRequest", "createSocket", "createConnection"];

/** Make a subclass of Node's agent that notes its calls. */
function subclass(Agent, log) {
  class Noting extends Agent {}
  for (const name of METHODS) {
    Noting.prototype[name] = function (...args) {
      log.called(name, this, args);
      return Agent.prototype[name].apply(this, args);
    };
  }
  return new Noting();
}

/** Make an agent that has nothing of Node's, as those of old libraries. */
function standAlone(port, log) {
  class Alone extends EventEmitter {
    get protocol() {
      return new Error().stack.includes("node:https") ? "https:" : "http:";
    }

    addRequest(...args) {
      log.called("addRequest", this, args);
      const [req] = args;
      req.setHeader("x-alone", "1");
      req.onSocket(net.connect(port, "127.0.0.1"));
    }
  }
  return new Alone();
}

/** Each gets a log, the URL and port of a server, and returns when its request is over. */
const SCENARIOS = {
  "a subclass of http.Agent": (log, { url }) => {
    const agent = subclass(http.Agent, log);
    return log.events(log.call(() => http.get(`${url}/x`, { agent })));
  },
  "a subclass of https.Agent": (log, { port }) => {
    const agent = subclass(https.Agent, log);
    return log.events(log.call(() => https.get({ host: "127.0.0.1", port, agent, path: "/x" })));
  },
  "an agent without a class of Node's": (log, { port }) => {
    const agent = standAlone(port, log);
    return log.events(log.call(() => http.get({ host: "127.0.0.1", port, agent, path: "/x" })));
  },
  "an agent without a class of Node's, over https": (log, { port }) => {
    const agent = standAlone(port, log);
    return log.events(log.call(() => https.get({ host: "127.0.0.1", port, agent, path: "/x" })));
  },
  "a method of the agent itself": (log, { url }) => {
    const agent = new http.Agent();
    agent.createConnection = function (...args) {
      log.called("createConnection", this, args);
      return net.connect(...args);
    };
    return log.events(log.call(() => http.get(`${url}/x`, { agent })));
  },
  "a connection of the call": (log, { url }) => {
    const createConnection = function (...args) {
      log.called("createConnection", this, args);
      return net.connect(...args);
    };
    return log.events(log.call(() => http.get(`${url}/x`, { createConnection })));
  },
  "a connection of the call that comes later": (log, { url }) => {
    const createConnection = (options, done) => {
      const socket = net.connect(options);
      socket.once("connect", () => done(null, socket));
    };
    const req = log.call(() => http.request(`${url}/x`, { createConnection, method: "POST" }));
    req.end("END");
    return log.events(req);
  },
  "an agent whose connections come later": (log, { url }) => {
    class Later extends http.Agent {
      createConnection(options, done) {
        log.called("createConnection", this, [options, done]);
        setImmediate(() => done(null, net.connect(options)));
      }
    }
    const req = log.call(() => http.request(`${url}/x`, { agent: new Later(), method: "POST" }));
    req.write("one");
    setImmediate(() => req.end("two"));
    return log.events(req);
  },
  "an agent with connections that are kept": async (log, { url }) => {
    const agent = subclass(http.Agent, log);
    Object.assign(agent, { keepAlive: true, maxSockets: 1 });
    await Promise.all([1, 2].map((n) => log.events(log.call(() => http.get(`${url}/${n}`, { agent })))));
    agent.destroy();
  },
  "the proxy agent of a library, which writes the head anew": (log, { url }) => {
    const agent = new HttpProxyAgent(url);
    const req = log.call(() => http.request("http://api.shop.test/x?y", { agent, method: "POST" }));
    req.setHeader("x-late", "1");
    req.end("END");
    return log.events(req);
  },
  "destroyed in the same tick": (log, { url }) => {
    const req = log.call(() => http.get(`${url}/x`));
    const over = log.events(req);
    req.destroy();
    return over;
  },
  "destroyed with an error in the same tick": (log, { url }) => {
    const req = log.call(() => http.request(`${url}/x`, { method: "POST" }));
    const over = log.events(req);
    req.write("one");
    req.destroy(Object.assign(new Error("of the application"), { code: "MINE" }));
    return over;
  },
  "aborted in the same tick": (log, { url }) => {
    const req = log.call(() => http.get(`${url}/x`));
    const over = log.events(req);
    req.abort();
    return over;
  },
  "a signal that is aborted before": (log, { url }) => {
    const req = log.call(() => http.get(`${url}/x`, { signal: AbortSignal.abort() }));
    return log.events(req);
  },
  "a signal that is aborted in the same tick": (log, { url }) => {
    const controller = new AbortController();
    const req = log.call(() => http.get(`${url}/x`, { signal: controller.signal }));
    const over = log.events(req);
    controller.abort();
    return over;
  },
  "a signal that is aborted in the next tick": (log, { url }) => {
    const controller = new AbortController();
    const req = log.call(() => http.request(`${url}/x`, { signal: controller.signal, method: "POST" }));
    const over = log.events(req);
    process.nextTick(() => controller.abort());
    return over;
  },
  "destroyed by the class of the agent": (log, { url }) => {
    class Destroying extends http.Agent {
      addRequest(req, ...rest) {
        log.called("addRequest", this, [req, ...rest]);
        super.addRequest(req, ...rest);
        req.destroy(new Error("not today"));
      }
    }
    return log.events(log.call(() => http.get(`${url}/x`, { agent: new Destroying() })));
  },
  "an error that the class of the agent throws": (log, { url }) => {
    class Throwing extends http.Agent {
      createSocket() {
        throw new Error("no socket today");
      }
    }
    try {
      log.call(() => http.get(`${url}/x`, { agent: new Throwing() }));
    } catch (error) {
      log.lines.push(["thrown", error.message]);
    }
  },
  "a subclass of ClientRequest": (log, { url }) => {
    class Mine extends http.ClientRequest {
      write(...args) {
        log.called("write", this, args);
        return super.write(...args);
      }

      end(data, ...rest) {
        log.called("end", this, [data, ...rest]);
        if (data) this.write(data);
        return super.end(...rest);
      }
    }
    const req = log.call(() => new Mine(`${url}/x`, { method: "POST" }));
    req.end("one body");
    return log.events(req);
  },
  "a connection that fails before the request is written": async (log) => {
    const req = log.call(() => http.request({ host: "127.0.0.1", port: 2, method: "POST" }));
    const over = log.events(req);
    req.on("error", () => req.end("late"));
    await over;
  },
  "headers as a list, and an expectation": async (log, { url }) => {
    await log.events(log.call(() => http.get(`${url}/x`, { headers: ["X-Case", "1", "Host", "x.test"] })));
    const req = log.call(() => http.request(`${url}/x`, { method: "POST", headers: { expect: "100-continue" } }));
    req.end("END");
    await log.events(req);
  },
  "a stream as the body": (log, { url }) => {
    const req = log.call(() => http.request(`${url}/x`, { method: "POST" }));
    Readable.from(["one", "two", "three"]).pipe(req);
    return log.events(req);
  },
  "a form of npm form-data": (log, { url }) => {
    const form = new FormData();
    form.setBoundary("boundary");
    form.append("field", "value");
    form.append("file", Readable.from(["content"]), { filename: "a.txt", knownLength: 7 });
    const headers = { ...form.getHeaders(), "content-length": form.getLengthSync() };
    const req = log.call(() => http.request(`${url}/x`, { method: "POST", headers }));
    form.pipe(req);
    return log.events(req);
  },
  "a body that is written with callbacks": (log, { url }) => {
    const req = log.call(() => http.request(`${url}/x`, { method: "POST" }));
    req.write("one", () => log.lines.push(["written"]));
    req.end("two", () => log.lines.push(["ended"]));
    return log.events(req);
  },
  "headers that are flushed first": (log, { url }) => {
    const req = log.call(() => http.request(`${url}/x`, { method: "PUT" }));
    req.flushHeaders();
    setImmediate(() => req.end("END"));
    return log.events(req);
  },
};

describe("a request that the agent lets pass by itself", () => {
  let proxy, server, agent, worker;
  const without = {};
  before(async () => {
    [proxy, server] = await Promise.all([startProxy(), startRawServer()]);
    for (const name of Object.keys(SCENARIOS)) without[name] = await run(name);
    agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
    worker = await startWorker(proxy.url);
    // The agent asks about this path for some minutes after its route is gone, which renews its lease.
    const routeId = await worker.routeGlob("**/lease");
    worker.send({ type: "route:unregister", routeId });
    await worker.waitFor("route:unregistered");
  });
  after(async () => {
    worker.close();
    await agent.stop();
    await server.stop();
    await proxy.stop();
  });

  async function run(name) {
    server.take();
    const log = new Log();
    await SCENARIOS[name](log, server);
    return { lines: log.lines, bytes: server.take() };
  }

  const asked = async () => (await proxy.get("/api/connections")).local.asked;

  /** Run in a new lease, until the proxy was not asked: on a busy machine the lease may be too old. */
  async function unasked(act) {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const begun = performance.now();
      await new Promise((resolve) =>
        http.get(`${server.url}/lease`, (response) => response.resume().on("end", resolve)),
      );
      const before = await asked();
      const isNew = performance.now() - begun < NEW_MS;
      const result = await act();
      if (isNew && (await asked()) === before) return result;
    }
    return assert.fail("the proxy was asked every time");
  }

  for (const name of Object.keys(SCENARIOS)) {
    test(`${name}: all is as without the agent`, async () => {
      assert.deepEqual(await unasked(() => run(name)), without[name]);
    });
  }

  const BODIES = {
    "a subclass of ClientRequest": "one body",
    "a stream as the body": "onetwothree",
    "a connection of the call that comes later": "END",
    "an agent whose connections come later": "onetwo",
    "the proxy agent of a library, which writes the head anew": "END",
  };
  for (const [name, body] of Object.entries(BODIES)) {
    test(`${name}: its body is in the history`, async () => {
      await unasked(() => run(name));
      const entry = await until(proxy, "/api/history", ({ entries }) =>
        entries.find(({ request, outcome }) => textOf(request) === body && outcome.response),
      );
      assert.equal(entry.outcome.response.status, 200);
    });
  }

  test("a connection that failed before the request was written is in the history, with its error", async () => {
    await unasked(() => run("a connection that fails before the request is written"));
    const entry = await until(proxy, "/api/history", ({ entries }) =>
      entries.find(({ request }) => request.url === "http://127.0.0.1:2/"),
    );
    assert.match(JSON.stringify(entry.events), /connect ECONNREFUSED/);
  });

  test("a request that is asked about, whose connection comes after it is written, gets its mock", async () => {
    await worker.routeGlob("**/late-mock", (r) => r.text(`mock of ${textOf(r.request)}`));
    const createConnection = (options, done) => {
      const socket = net.connect(options);
      socket.once("connect", () => done(null, socket));
    };
    const req = http.request(`${server.url}/late-mock`, { createConnection, method: "POST" });
    req.write("one ");
    req.end("body");
    const response = await new Promise((resolve, reject) => req.on("response", resolve).on("error", reject));
    assert.equal(Buffer.concat(await response.toArray()).toString(), "mock of one body");
  });
});
