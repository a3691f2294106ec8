import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { after, before, describe, test } from "node:test";
import { startTrafficMock } from "../../index.mjs";
import { everyUndici, hasUndici } from "../lib/clients.mjs";
import { startProxy } from "../lib/proxy.mjs";
import { startWorker } from "../lib/worker.mjs";

/** Nothing here may take as long, unless it hangs. */
const HANGS_MS = 5000;
/** Longer than a request waits before its handler is told of a connection; ms. */
const SLOW_MS = 150;
const TRIES = 10;

const HINTS =
  "HTTP/1.1 102 Processing\r\n\r\n" +
  "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" +
  "HTTP/1.1 110 Odd\r\n\r\n";

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

let proxy, server, agent, worker, origin;
const versions = {};

/** A server that answers pipelined requests in order, with informational responses at /hints. */
function answering(socket) {
  let text = "";
  socket.on("error", () => {});
  socket.on("data", (data) => {
    text += data.toString("latin1");
    for (let end; (end = text.indexOf("\r\n\r\n")) >= 0;) {
      const path = text.split(" ")[1];
      text = text.slice(end + 4);
      if (path.includes("die")) return socket.destroy();
      socket.write(`${path.includes("hints") ? HINTS : ""}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`);
    }
  });
}

before(async () => {
  proxy = await startProxy();
  server = net.createServer(answering).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${server.address().port}`;
  agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
  worker = await startWorker(proxy.url);
  Object.assign(versions, await everyUndici());
});

after(async () => {
  worker.close();
  await agent.stop();
  server.close();
  await proxy.stop();
});

/**
 * Repeat what is right only if a decision takes less time than a request waits before its handler is told of a
 * connection, which a busy machine cannot promise.
 * @param {() => Promise<string[]>} act
 * @param {string[]} expected
 */
async function soon(act, expected) {
  for (let tried = 1; ; tried += 1) {
    const log = await act();
    if (tried === TRIES || log.join() === expected.join()) return assert.deepEqual(log, expected);
  }
}

/** Run a test for every undici, with a path of its own. */
function each(title, act) {
  for (const version of ["undici6", "undici7", "undici8"].filter(hasUndici)) {
    test(`${version}: ${title}`, () => act(versions[version], `/${version}-${title.replaceAll(/\W+/g, "-")}`));
  }
}

/**
 * Make a handler that notes what undici calls, by the names of its older form.
 * @param {any} undici its copy
 * @param {string[]} log
 * @param {(abort: (reason: Error) => void) => void} [connected] called in `onConnect`
 * @returns {{ handler: object, ended: Promise<void> }}
 */
function noting({ Agent }, log, connected = () => {}) {
  let settle;
  const ended = new Promise((resolve, reject) => {
    settle = resolve;
    setTimeout(() => reject(new Error(`it hangs: ${log.join(", ")}`)), HANGS_MS).unref();
  });
  const end = (what) => {
    log.push(what);
    settle();
  };
  const isLegacy = Agent === versions.undici6.Agent;
  const connect = (abort) => {
    log.push("connect");
    connected(abort);
  };
  const head = (status, link) => void log.push(`${status}${link ? ` ${link}` : ""}`);
  const failed = (error) => end(`error ${error.code ?? error.message}`);
  const handler = isLegacy
    ? {
        onConnect: connect,
        onBodySent: () => void log.push("body"),
        onRequestSent: () => void log.push("sent"),
        onResponseStarted: () => void log.push("started"),
        onHeaders: (status, raw) => {
          head(status, raw[0]?.toString() === "Link" && raw[1].toString());
          return true;
        },
        onData: () => Boolean(log.push("data")),
        onComplete: () => end("end"),
        onError: failed,
      }
    : {
        onRequestStart: (controller) => connect((reason) => controller.abort(reason)),
        onResponseStarted: () => void log.push("started"),
        onResponseStart: (controller, status, { link }) => head(status, link),
        onResponseData: () => void log.push("data"),
        onResponseEnd: () => end("end"),
        onResponseError: (controller, error) => failed(error),
      };
  return { handler, ended };
}

/** @returns what a handler of that copy hears of a request that is sent, besides what is given */
const withSent = ({ Agent }, [first, ...rest], body = []) =>
  Agent === versions.undici6.Agent ? [first, ...body, "sent", ...rest] : [first, ...rest];

describe("what a handler is told, in its order", () => {
  const ANSWERED = ["connect", "started", "200", "data", "end"];

  each("a request that passes", async (undici, path) => {
    await worker.route(`not${path}`, (r) => r.text("ok"));
    const pass = async () => {
      const log = [];
      const client = new undici.Client(origin);
      client.on("connect", () => log.push("= connect"));
      const { handler, ended } = noting(undici, log);
      client.dispatch({ path, method: "GET" }, handler);
      assert.deepEqual(log, []);
      await ended;
      client.removeAllListeners("connect");
      await client.close();
      return log;
    };
    await soon(pass, ["= connect", ...withSent(undici, ANSWERED)]);
  });

  each("requests that queue for one connection", async (undici, path) => {
    await worker.route(`not${path}`, (r) => r.text("ok"));
    const pass = async () => {
      const log = [];
      const client = new undici.Client(origin);
      const all = [1, 2].map((n) => {
        const { handler, ended } = noting(undici, log);
        client.dispatch({ path: `${path}-${n}`, method: "GET" }, handler);
        return ended;
      });
      await Promise.all(all);
      await client.close();
      return log;
    };
    await soon(pass, [...withSent(undici, ANSWERED), ...withSent(undici, ANSWERED)]);
  });

  each("a mock", async (undici, path) => {
    await worker.route(path, (r) => r.text("ok"));
    const log = [];
    const { handler, ended } = noting(undici, log);
    new undici.Agent().dispatch({ origin, path, method: "POST", body: "b" }, handler);
    await ended;
    assert.deepEqual(log, withSent(undici, ANSWERED, ["body"]));
  });

  each("what it is given at the start, of a mock and of what passes", async (undici, path) => {
    await worker.route(`${path}-mocked`, (r) => r.text("ok"));
    const given = [];
    for (const which of ["mocked", "passed"]) {
      const { handler, ended } = noting(undici, []);
      const name = undici === versions.undici6 ? "onConnect" : "onRequestStart";
      const original = handler[name];
      handler[name] = (first, ...rest) => {
        given.push(rest[0]);
        original(first);
      };
      new undici.Agent().dispatch({ origin, path: `${path}-${which}`, method: "GET" }, handler);
      await ended;
    }
    assert.equal(given[0], given[1]);
  });

  each("no controller of an error before a connection", async (undici, path) => {
    if (undici === versions.undici6) return;
    await worker.route(`${path}-refused`, (r) => r.abort("connectionrefused"));
    const closed = net.createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const nowhere = `http://127.0.0.1:${closed.address().port}`;
    await new Promise((resolve) => closed.close(resolve));
    const act = async (at, which, then) => {
      const { handler, ended } = noting(undici, []);
      const original = handler.onResponseError;
      let given;
      handler.onResponseError = (controller, error) => {
        given = controller;
        original(controller, error);
      };
      const client = new undici.Client(at);
      client.dispatch({ path: `${path}-${which}`, method: "GET" }, handler);
      then?.(client);
      await ended;
      return [typeof given];
    };
    await soon(() => act(nowhere, "passed"), ["undefined"]);
    await soon(() => act(origin, "refused"), ["undefined"]);
    assert.deepEqual(await act(origin, "destroyed", (client) => client.destroy()), ["undefined"]);
  });

  each("a request that cannot be connected, or seems so", async (undici, path) => {
    await worker.route(`${path}-refused`, (r) => r.abort("connectionrefused"));
    await worker.route(`not${path}`, (r) => r.text("ok"));
    const probe = net.createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const free = `http://127.0.0.1:${probe.address().port}`;
    await new Promise((resolve) => probe.close(resolve));
    for (const to of [`${origin}${path}-refused`, `${free}${path}`]) {
      const url = new URL(to);
      const fail = async () => {
        const log = [];
        const { handler, ended } = noting(undici, log);
        new undici.Agent().dispatch({ origin: url.origin, path: url.pathname, method: "GET" }, handler);
        await ended;
        return log;
      };
      await soon(fail, ["error ECONNREFUSED"]);
    }
  });

  each("a connection that is reset", async (undici, path) => {
    await worker.route(path, (r) => r.abort("connectionreset"));
    const log = [];
    const { handler, ended } = noting(undici, log);
    new undici.Agent().dispatch({ origin, path, method: "GET" }, handler);
    await ended;
    assert.deepEqual(log, ["connect", "error ECONNRESET"]);
  });

  each("it may abort while a decision is open", async (undici, path) => {
    let decide;
    const isDecided = new Promise((resolve) => (decide = resolve));
    await worker.route(path, async (r) => {
      await isDecided;
      r.text("late");
    });
    const log = [];
    const { handler, ended } = noting(undici, log, (abort) => abort(new Error("mine")));
    new undici.Agent().dispatch({ origin, path, method: "GET" }, handler);
    await ended;
    assert.deepEqual(log, ["connect", "error mine"]);
    decide();
    await wait(20);
    assert.deepEqual(log, ["connect", "error mine"]);
  });

  each("a slow decision connects once", async (undici, path) => {
    await worker.route(path, async (r) => {
      await wait(SLOW_MS);
      r.continue();
    });
    const log = [];
    const { handler, ended } = noting(undici, log);
    new undici.Agent().dispatch({ origin, path, method: "GET" }, handler);
    await ended;
    assert.deepEqual(log, withSent(undici, ANSWERED));
  });

  each("informational responses of what goes on", async (undici, path) => {
    await worker.route(`${path}-rate`, (r) => r.result({ action: "continue", rate: 20 }));
    await worker.route(`${path}-headers`, (r) => r.continue({ headers: { ...r.request.headers, "x-new": "1" } }));
    const hints = ["started", "102", "started", "103 </a.css>; rel=preload", "started", "110"];
    for (const how of ["rate", "headers", "pass"]) {
      const log = [];
      const { handler, ended } = noting(undici, log);
      new undici.Agent().dispatch({ origin, path: `${path}-${how}-hints`, method: "GET" }, handler);
      await ended;
      // The pieces of a body that comes at a rate are several.
      const expected = withSent(undici, ["connect", ...hints, "started", "200", "data", "end"]);
      assert.deepEqual(
        log.filter((what, at) => what !== "data" || log[at - 1] !== "data"),
        expected,
        how,
      );
    }
  });
});

describe("a dispatcher that has more requests than connections", () => {
  const LIMITED = {
    Client: ({ Client }) => new Client(origin),
    "Client, pipelining": ({ Client }) => new Client(origin, { pipelining: 4 }),
    Pool: ({ Pool }) => new Pool(origin, { connections: 1 }),
    Agent: ({ Agent }) => new Agent({ connections: 1 }),
  };

  /** Dispatch one request after the other, as soon as there is no more need to wait, as undici's documentation says. */
  async function sendPatiently(undici, dispatcher, path, count) {
    const taken = [];
    const all = [];
    for (let n = 0; n < count; n += 1) {
      const { handler, ended } = noting(undici, []);
      all.push(ended);
      taken.push(dispatcher.dispatch({ origin, path: `${path}-${n}`, method: "GET" }, handler));
      if (!taken.at(-1)) await once(dispatcher, "drain", { signal: AbortSignal.timeout(HANGS_MS) });
    }
    await Promise.all(all);
    return taken;
  }

  const decisions = {
    passes: (r) => r.continue(),
    "is mocked": (r) => r.text("ok"),
    "is aborted": (r) => r.abort("connectionrefused"),
  };
  for (const [what, decide] of Object.entries(decisions)) {
    each(`is busy, and drains, when each ${what}`, async (undici, path) => {
      await worker.route(path, decide);
      for (const [name, make] of Object.entries(LIMITED)) {
        const dispatcher = make(undici);
        assert.deepEqual(await sendPatiently(undici, dispatcher, path, 3), [false, false, false], name);
        await dispatcher.close();
      }
    });
  }

  each("drains once for several that wait together", async (undici, path) => {
    await worker.route(path, (r) => r.text("ok"));
    const dispatcher = new undici.Pool(origin, { connections: 2 });
    let drained = 0;
    dispatcher.on("drain", () => (drained += 1));
    const all = [];
    const taken = [1, 2, 3].map((n) => {
      const { handler, ended } = noting(undici, []);
      all.push(ended);
      return dispatcher.dispatch({ path: `${path}-${n}`, method: "GET" }, handler);
    });
    assert.deepEqual(taken, [true, false, false]);
    await Promise.all(all);
    await wait(20);
    assert.equal(drained, 1);
  });

  each("takes all without a limit", async (undici, path) => {
    await worker.route(path, (r) => r.text("ok"));
    for (const dispatcher of [new undici.Pool(origin), new undici.Agent()]) {
      assert.deepEqual(await sendPatiently(undici, dispatcher, path, 3), [true, true, true]);
      await dispatcher.close();
    }
  });
});

describe("a handler that aborts when the response begins", () => {
  each("gets no more of a mock", async (undici, path) => {
    await worker.route(path, (r) => r.text("ok"));
    const client = new undici.Client(origin);
    const log = [];
    let abort;
    const ended = new Promise((resolve) => {
      const note = (name) => () => void log.push(name);
      const failed = () => resolve(log.push("error"));
      client.dispatch(
        { path, method: "GET" },
        {
          ...{
            onConnect: (act) => (abort = act),
            onHeaders: note("head"),
            onData: note("data"),
            onComplete: note("end"),
          },
          ...{ onRequestStart: (its) => (abort = (reason) => its.abort(reason)), onResponseStart: note("head") },
          ...{ onResponseData: note("data"), onResponseEnd: note("end"), onError: failed, onResponseError: failed },
          onResponseStarted: () => abort(new Error("enough")),
        },
      );
    });
    await ended;
    await wait(20);
    assert.deepEqual(log, ["error"]);
    await client.destroy();
  });
});

describe("a handler that undici refuses", () => {
  each("is refused as without the agent", (undici, path) => {
    const client = new undici.Client(origin);
    for (const handler of [{}, { onConnect() {} }]) {
      assert.throws(() => client.dispatch({ path, method: "GET" }, handler), { code: "UND_ERR_INVALID_ARG" });
    }
    return client.destroy();
  });
});

describe("options that undici refuses", () => {
  /** @returns {string[]} what a dispatcher says, in its order */
  function refused(undici, dispatcher, opts) {
    const log = [];
    const failed = (error) => log.push(error.code);
    const ignored = () => true;
    const handler =
      undici === versions.undici6
        ? { onConnect: ignored, onHeaders: ignored, onData: ignored, onComplete: ignored, onError: failed }
        : { onRequestStart: ignored, onResponseError: (controller, error) => failed(error) };
    log.push(`returned ${dispatcher.dispatch({ origin, path: "/", method: "GET", ...opts }, handler)}`);
    return log;
  }

  each("are refused within the dispatch", async (undici) => {
    const { Client, Pool, Agent } = undici;
    for (const [dispatcher, isTaken] of [
      [new Client(origin), false],
      [new Pool(origin), true],
      [new Agent(), true],
    ]) {
      for (const opts of [{ headersTimeout: -1 }, { method: "no method" }, { headers: { "a b": "c" } }, { body: {} }]) {
        const expected = ["UND_ERR_INVALID_ARG", `returned ${isTaken}`];
        assert.deepEqual(refused(undici, dispatcher, opts), expected, `${Object.keys(opts)}`);
      }
      await dispatcher.destroy();
    }
  });
});
