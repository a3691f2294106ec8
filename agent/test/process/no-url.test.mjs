import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runNode } from "../lib/child.mjs";

/** Everything that attaching would touch, by identity, before and after `act`. */
const INSPECT = `
  const modules = ['http', 'https', 'net', 'tls', 'module', 'cluster', 'worker_threads'].map((name) => require(name))
  const { http, https } = { http: modules[0], https: modules[1] }
  const owners = [globalThis, process, require("module").prototype, ...modules, http.Agent.prototype, https.Agent.prototype, http.ClientRequest.prototype, http.IncomingMessage.prototype]
  // Values as they are; getters are compared as such, since calling one loads what it stands for.
  const descriptors = () => owners.map((owner) => Reflect.ownKeys(owner).map((key) => [key, Object.getOwnPropertyDescriptor(owner, key)]))
  const state = () => ({
    descriptors: descriptors(),
    listeners: process.eventNames().map((name) => [name, process.listenerCount(name)]),
    env: { ...process.env },
    resources: process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY/.test(name)),
    builtins: process.moduleLoadList.filter((name) => !/^Internal Binding|NativeModule internal\\/(modules|util|fs|url|process|console|vm)/.test(name)).length,
    files: Object.keys(require.cache)
  })
  const compare = (before, after) => {
    const changed = []
    before.descriptors.forEach((entries, at) => {
      const now = new Map(after.descriptors[at])
      for (const [key, was] of entries) if (['value', 'get', 'set'].some((part) => !Object.is(now.get(key)?.[part], was[part]))) changed.push(String(key))
      for (const key of now.keys()) if (!entries.some(([known]) => known === key)) changed.push('new ' + String(key))
    })
    for (const part of ['listeners', 'env', 'resources']) if (JSON.stringify(before[part]) !== JSON.stringify(after[part])) changed.push(part)
    return { changed, builtins: after.builtins - before.builtins, files: after.files.filter((file) => !before.files.includes(file)).map((file) => file.split('/').pop()) }
  }
  const load = require
  // Later, and the second time: what this script and its evaluation bring along is there then.
  const inspect = (act) => setImmediate(async () => {
    state()
    const before = state()
    await act()
    console.log(JSON.stringify(compare(before, state())))
  })`;

const NOTHING = { changed: [], builtins: 0 };

describe("without a proxy URL nothing happens", () => {
  test("the preload loads itself and no more", async () => {
    for (const env of [
      {},
      { TRAFFICMOCK_PROXY_URL: "" },
      { TRAFFICMOCK_TOKEN: "x", TRAFFICMOCK_CLIENT_ID: "y", TRAFFICMOCK_WEBSOCKET: "all" },
    ]) {
      const { stdout } = await runNode(`${INSPECT}; inspect(() => void load('./register.js'))`, { preload: "", env });
      assert.deepEqual(JSON.parse(stdout), { ...NOTHING, files: ["register.js"] });
    }
  });

  test("the call loads what reads its settings, and gives an id and a stop() that does nothing", async () => {
    const { stdout } = await runNode(
      `${INSPECT}
      inspect(async () => {
        const { clientId, stop } = await load('./src/index.js').startTrafficMock({ webSocket: 'all' })
        console.log(JSON.stringify([clientId, typeof await stop()]))
      })`,
      { preload: "" },
    );
    const [first, second] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(first, ["trafficmock-agent", "undefined"]);
    assert.deepEqual(second, { ...NOTHING, files: ["index.js", "settings.js", "host-pattern.js"] });
  });

  test("what the inspection sees, it sees when there is a URL", async () => {
    const { stdout } = await runNode(`${INSPECT}; inspect(() => void load('./register.js'))`, {
      preload: "",
      env: { TRAFFICMOCK_PROXY_URL: "http://127.0.0.1:2" },
    });
    const { changed, builtins, files } = JSON.parse(stdout);
    for (const name of ["fetch", "request", "get", "addRequest", "onSocket", "_compile", "new loaded", "env"]) {
      assert.ok(changed.includes(name), `${name} of ${changed.join()}`);
    }
    assert.ok(builtins > 0 && files.length > 10);
  });
});
