/* Answers that a test writes part by part, read meanwhile by a client of the forward proxy. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { request } from "node:http";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import { connect } from "trafficmock-playwright/core";
import { startProxy } from "../../agent/test/lib/proxy.mjs";

const TYPE = "text/event-stream";

describe("streams", () => {
  let proxy;

  before(async () => {
    proxy = await startProxy();
  });

  after(() => proxy.stop());

  const begin = (t) => connect({ title: t.name, proxyUrl: proxy.url, isolation: "off" });

  /** Let an application ask for an answer; it is read part by part. */
  async function ask(url) {
    const sent = request(proxy.url, { path: url, headers: { host: new URL(url).host } });
    sent.end();
    const [response] = await once(sent, "response");
    // The reader of the response is told of the same error.
    sent.on("error", () => {});
    response.setEncoding("utf8");
    return response;
  }

  const nextPart = async (response) => (await once(response, "data"))[0];
  const rest = async (response) => (await response.toArray()).join("");

  test("thousands of small parts at once arrive in their order", async (t) => {
    const mocks = await begin(t);
    const chat = await mocks.stream("http://llm.test/letters", { contentType: TYPE });
    const asked = ask("http://llm.test/letters");
    await chat.request();
    const letters = Array.from({ length: 3000 }, (_, index) => String.fromCharCode(97 + (index % 26)));
    const sent = Promise.all(letters.map((letter) => chat.send(letter)));
    const text = rest(await asked);
    await sent;
    await chat.end();
    assert.equal(await text, letters.join(""));
    await mocks.end();
  });

  test("each part has come before the next is sent", async (t) => {
    const mocks = await begin(t);
    const chat = await mocks.stream("http://llm.test/chat", { contentType: TYPE, headers: { "x-model": "m" } });
    const asked = ask("http://llm.test/chat");
    assert.equal((await chat.request()).url(), "http://llm.test/chat");
    const response = await asked;
    assert.equal(response.headers["content-type"], TYPE);
    assert.equal(response.headers["x-model"], "m");
    for (const token of ["Hel", "lo"]) {
      const part = nextPart(response);
      await chat.sse({ json: { token } });
      assert.equal(await part, `data: {"token":"${token}"}\n\n`);
    }
    await chat.end();
    assert.equal(await rest(response), "");
    await mocks.end();
  });

  test("the parts of generators and readables are sent, and an empty one ends at once", async (t) => {
    const mocks = await begin(t);
    async function* slow() {
      yield "a";
      yield Buffer.from("b");
    }
    const bodies = { slow, plain: () => new Set(["c", "d"]), readable: () => Readable.from(["e"]), none: () => [] };
    await mocks.route("http://llm.test/*", (route, asked) =>
      route.fulfill({ body: bodies[new URL(asked.url()).pathname.slice(1)](), contentType: TYPE }),
    );
    const texts = await Promise.all(
      Object.keys(bodies).map(async (name) => rest(await ask(`http://llm.test/${name}`))),
    );
    assert.deepEqual(texts, ["ab", "cd", "e", ""]);
    await mocks.end();
  });

  test("a generator is closed when the application goes away, and the test is told", async (t) => {
    const mocks = await begin(t);
    const generator = new EventEmitter();
    async function* endless() {
      try {
        for (;;) yield "more";
      } finally {
        generator.emit("close");
      }
    }
    await mocks.route("http://llm.test/endless", (route) => route.fulfill({ body: endless() }));
    const response = await ask("http://llm.test/endless");
    await nextPart(response);
    const closed = once(generator, "close");
    response.destroy();
    await closed;
    await assert.rejects(mocks.end(), { name: "StreamClosedError" });
  });

  test("what waits fails when the connection to the proxy is lost", async (t) => {
    const doomed = await startProxy();
    t.after(() => doomed.stop());
    const mocks = await connect({ title: t.name, proxyUrl: doomed.url, isolation: "off" });
    const waiting = await mocks.stream("http://llm.test/never");
    const sent = request(doomed.url, { path: "http://llm.test/begun", headers: { host: "llm.test" } });
    sent.on("error", () => {});
    const chat = await mocks.stream("http://llm.test/begun");
    sent.end();
    await chat.request();
    const stuck = assert.rejects(chat.send("x".repeat(64 * 2 ** 20)), /Error/);
    const never = assert.rejects(waiting.request(), { name: "ConnectionError" });
    await doomed.stop();
    await Promise.all([stuck, never]);
    await assert.rejects(chat.send("more"), { name: /ConnectionError|StreamClosedError/ });
    await assert.rejects(mocks.end());
  });

  test("an option, a part or an event that is none is refused at the call", async (t) => {
    const mocks = await begin(t);
    await assert.rejects(mocks.stream("**", { body: "x" }), {
      name: "UsageError",
      message: /^stream: "body" is unknown/,
    });
    await assert.rejects(mocks.stream("ws://llm.test/"), { name: "UsageError", message: /^stream answers HTTP/ });
    const chat = await mocks.stream("http://llm.test/refuses", { contentType: TYPE });
    const asked = ask("http://llm.test/refuses");
    await assert.rejects(chat.send({ a: 1 }), { name: "UsageError", message: /jsonLine and sse/ });
    await assert.rejects(chat.sse({ text: "a" }), { name: "UsageError", message: /^stream.sse: the options are/ });
    await assert.rejects(chat.sse({ data: 5 }), { name: "UsageError", message: "sse: data is a string, not 5" });
    await assert.rejects(chat.jsonLine(undefined), { name: "UsageError" });
    await chat.end();
    assert.equal(await rest(await asked), "");
    await mocks.end();
  });

  test("a test that leaves its stream open fails with the place of the route", async (t) => {
    const mocks = await begin(t);
    const chat = await mocks.stream("http://llm.test/open", { contentType: TYPE });
    const response = await ask("http://llm.test/open");
    const broken = assert.rejects(rest(response));
    await chat.send("begun");
    await assert.rejects(mocks.end(), /its streamed answer \(.*streams\.test\.mjs:\d+\)/);
    await assert.rejects(chat.send("late"), { name: "TestEndedError" });
    await broken;
  });
});
