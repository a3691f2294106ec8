import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { startWorker } from "./worker.mjs";

/**
 * Tests that all mock one host, each with a context of its own. Applications ask
 * `http://nowhere.test/KIND?who=NAME` for who asks them.
 */
export class Owners extends EventEmitter {
  /**
   * @param {{ url: string }} proxy
   * @param {string[]} names
   * @param {string} host that they mock
   */
  static async start(proxy, names = ["A", "B", "C", "D"], host = "nowhere.test") {
    const owners = new Owners();
    owners.names = names;
    owners.workers = await Promise.all(names.map((name) => startWorker(proxy.url, { context: owners.id(name) })));
    owners.calls = [];
    await Promise.all(
      names.map((name, at) =>
        owners.workers[at].route(host, (route) => {
          const { pathname, searchParams } = new URL(route.request.url);
          owners.calls.push({ owner: name, who: searchParams.get("who"), kind: pathname.slice(1) });
          owners.emit("call");
          route.text(`${name} of ${pathname.slice(1)}`);
        }),
      ),
    );
    return owners;
  }

  /** @param {string} name */
  id(name) {
    return name.toLowerCase().repeat(32);
  }

  /** @param {string | undefined} testId @returns {string | undefined} the name of the test */
  nameOf(testId) {
    return this.names[this.workers.findIndex((worker) => worker.testId === testId)];
  }

  /** @param {string} name */
  headers(name) {
    return { baggage: `trafficmock.test=${this.id(name)}` };
  }

  /**
   * Ask for all at once, several times, and see that each call went to its own test.
   * @param {string[]} kinds of calls that one asking leads to, some of them later
   * @param {(name: string) => Promise<unknown>} act asks the application under the context of one
   * @param {number} rounds
   */
  async check(kinds, act, rounds = 4) {
    this.calls.length = 0;
    for (let round = 0; round < rounds; round += 1) await Promise.all(this.names.map((name) => act(name)));
    while (this.calls.length < kinds.length * this.names.length * rounds) await once(this, "call");
    const counts = {};
    for (const { owner, who, kind } of this.calls) {
      assert.equal(owner, who, kind);
      const key = `${kind} of ${owner}`;
      counts[key] = (counts[key] ?? 0) + 1;
    }
    const all = kinds.flatMap((kind) => this.names.map((name) => [`${kind} of ${name}`, rounds]));
    assert.deepEqual(counts, Object.fromEntries(all));
  }

  close() {
    for (const worker of this.workers) worker.close();
  }
}
