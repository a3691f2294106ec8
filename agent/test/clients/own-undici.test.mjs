import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hasUndici } from "../lib/clients.mjs";
import { IMPORT, REQUIRE, runNode } from "../lib/child.mjs";
import { startProxy, until } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";

/** Says which copy of undici the global dispatchers belong to, if any. */
const OWNERS = `const owners = () => [1, 2].map((version) => {
    const found = globalThis[Symbol.for('undici.globalDispatcher.' + version)]
    return found === undefined ? 'none' : found.__copy ?? 'own'
  })
  const mark = (copy) => { for (const version of [1, 2]) {
    const found = globalThis[Symbol.for('undici.globalDispatcher.' + version)]
    if (found) found.__copy = copy
  } }
  const say = (all) => { console.log(JSON.stringify(all)); process.exit() };`;
const VERSIONS = ["undici6", "undici7", "undici8"].filter(hasUndici);

let proxy, upstream;
before(async () => {
  proxy = await startProxy();
  upstream = await startUpstream();
});
after(async () => {
  await upstream.stop();
  await proxy.stop();
});

/** @returns {Promise<any>} what the script says, with the agent or without it */
async function said(code, preload = REQUIRE) {
  const env = { TRAFFICMOCK_PROXY_URL: proxy.url, UPSTREAM: upstream.url };
  const { stdout, stderr } = await runNode(`${OWNERS}\n${code}`, { preload, env });
  return JSON.parse(stdout || JSON.stringify(stderr));
}

/** A line of the history for each path that was asked. */
const seen = (path) =>
  until(proxy, "/api/history", ({ entries }) => entries.find(({ request }) => request.url.endsWith(path)));

describe("the global dispatcher of Node's own undici", () => {
  for (const [name, preload] of Object.entries({ "--require": REQUIRE, "--import": IMPORT })) {
    test(`is not set by ${name}, and is by a fetch, as without it`, async () => {
      const code = `const first = owners()
        fetch(process.env.UPSTREAM + '/first').then(() => say([first, owners()]))`;
      const [first, then] = await said(code, preload);
      assert.deepEqual(first, ["none", "none"]);
      assert.deepEqual([first, then], await said(code, ""));
      await seen("/first");
    });
  }

  for (const version of VERSIONS) {
    test(`leaves its place to ${version}, as without the agent`, async () => {
      const code = `require('${version}')
        mark('npm')
        const first = owners()
        fetch(process.env.UPSTREAM + '/after-${version}').then(() => say([first, owners()]))`;
      const owners = await said(code);
      assert.equal(owners[0][0], "npm");
      assert.deepEqual(owners, await said(code, ""));
      await seen(`/after-${version}`);
    });
  }

  for (const version of VERSIONS) {
    for (const read of ["Headers", "Response", "FormData", "MessageEvent", "globalThis.WebSocket"]) {
      test(`meets ${version} as without the agent, once ${read} is read`, async () => {
        const code = `const { Agent } = require('${version}')
          Agent.prototype.__copy = 'npm'
          const first = owners()
          void ${read}
          const then = owners()
          fetch(process.env.UPSTREAM + '/read').then(({ status }) => say([first, then, owners(), status]))`;
        assert.deepEqual(await said(code), await said(code, ""));
      });
    }

    test(`is there for ${version}, which is loaded after Headers was read, as without the agent`, async () => {
      const code = `void Headers
        const { Agent, request } = require('${version}')
        Agent.prototype.__copy = 'npm'
        const path = '/later-${version}'
        request(process.env.UPSTREAM + path).then(({ statusCode }) => say([owners(), statusCode]))`;
      assert.deepEqual(await said(code), await said(code, ""));
      await seen(`/later-${version}`);
    });
  }

  for (const version of VERSIONS) {
    test(`takes or refuses forms of ${version} as without the agent`, async () => {
      const code = `const { FormData: Form, request } = require('${version}')
        void Headers
        const sent = (body) => request(process.env.UPSTREAM + '/form', { method: 'POST', body })
          .then(({ statusCode }) => statusCode, ({ name, code, message }) => [name, code, message])
        const forms = ${version === "undici8"} ? [new Form(), new FormData()] : [new Form()]
        Promise.all(forms.map((form) => {
          form.append('a', 'b')
          return sent(form)
        })).then(say)`;
      assert.deepEqual(await said(code), await said(code, ""));
    });
  }

  test("is not set by a class that an application puts in the place of Node's", async () => {
    const code = `globalThis.Headers = class Own {}
      const first = [owners(), Headers.name]
      void Response
      say([first, owners(), Object.getOwnPropertyDescriptor(globalThis, 'Headers').value?.name])`;
    assert.deepEqual(await said(code), await said(code, ""));
  });

  test("leaves the classes of the global object as they are, when the agent ends", async () => {
    const code = `const { startTrafficMock } = require('./src/index.js')
      const shapes = () => ['Headers', 'Request'].map((name) => {
        const { value, get, ...rest } = Object.getOwnPropertyDescriptor(globalThis, name)
        return [typeof value, typeof get, rest]
      })
      startTrafficMock().then(async (agent) => {
        await agent.stop()
        say(shapes())
      })`;
    const bare = code.replace("startTrafficMock().then", "Promise.resolve({ stop() {} }).then");
    assert.deepEqual(await said(code, ""), await said(bare, ""));
  });

  test("undici 8 gets an answer without a body that names a length", { skip: !hasUndici("undici8") }, async () => {
    const code = `const { request } = require('undici8')
      const send = (status) => request(process.env.UPSTREAM + '/' + status + '?length=5')
        .then(async ({ statusCode, body }) => [statusCode, await body.text()], String)
      Promise.all([send(204), send(304)]).then(say)`;
    assert.deepEqual(await said(code), [
      [204, ""],
      [304, ""],
    ]);
    await seen("/204?length=5");
  });

  test("is there for a fetch that was kept before the agent attached, and after stop()", async () => {
    const code = `const kept = fetch
      const { startTrafficMock } = require('./src/index.js')
      startTrafficMock().then(async (agent) => {
        const first = owners()
        const { status } = await kept(process.env.UPSTREAM + '/kept')
        const then = owners()
        await agent.stop()
        say([first, status, then[0], (await fetch(process.env.UPSTREAM + '/after')).status, owners()[0]])
      })`;
    assert.deepEqual(await said(code, ""), [["none", "none"], 200, "own", 200, "own"]);
    // Node 20 loads its undici with this first use of it, too late for it to be seen.
    if (typeof WebSocket === "function") await seen("/kept");
  });

  test("is there after stop() for a fetch that was kept", async () => {
    const code = `const kept = fetch
      const { startTrafficMock } = require('./src/index.js')
      startTrafficMock().then(async (agent) => {
        await agent.stop()
        say((await kept(process.env.UPSTREAM + '/kept-after')).status)
      })`;
    assert.equal(await said(code, ""), 200);
  });
});
