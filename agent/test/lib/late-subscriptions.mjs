import { startTrafficMock } from "../../index.mjs";
import { startProxy, startService } from "./proxy.mjs";
import { startUpstream } from "./upstream.mjs";
import { startWorker } from "./worker.mjs";

/** The proxy that takes everybody who observes for one who always has. */
const WITHOUT_A_BEGINNING = `
from trafficmock.core.local.local_decisions import LocalDecisions
from trafficmock.cli import main
changed = LocalDecisions.observers_changed
def observers_changed(self, out):
    n = changed(self, out)
    self.observed_since = dict.fromkeys(self.observed_since, 0)
    return n
LocalDecisions.observers_changed = observers_changed
main()
`;

/**
 * Let tests subscribe right after a request that passed unasked, and was redirected in every second try.
 * @param {{ tries: number, hasBeginning?: boolean, isOver?: (early: number) => boolean }} options
 * @returns {Promise<{ early: number, unasked: number }>} how many requests of before tests were told of, and how many
 *   requests passed unasked
 */
export async function subscribeLate({ tries, hasBeginning = true, isOver = () => false }) {
  const proxy = hasBeginning ? await startProxy() : await startService(["-c", WITHOUT_A_BEGINNING]);
  const upstream = await startUpstream();
  const agent = await startTrafficMock({ proxyUrl: proxy.url, clientId: "app" });
  const worker = await startWorker(proxy.url, { features: ["subscribe"] });
  const get = async (path) => (await fetch(upstream.url + path)).text();
  let early = 0;
  for (let n = 0; n < tries && !isOver(early); n += 1) {
    const before = `/before-${n}`;
    const target = encodeURIComponent(upstream.url + before);
    await get(n % 2 ? before : `/redirect?to=${target}&status=302&before`);
    const named = { type: "test:register", testId: `late ${n}`, title: "late", file: "late.spec.js", workerId: "0" };
    worker.send(named);
    worker.send({ type: "test:subscribe", testId: named.testId });
    await worker.waitFor("test:subscribed", ({ testId }) => testId === named.testId);
    await get(`/after-${n}`);
    await worker.waitFor("request:observed", ({ request }) => request.url.endsWith(`/after-${n}`));
    const told = worker.seen.filter(({ type }) => type === "request:observed");
    early += told.filter(({ request }) => request.url.includes("before")).length;
    worker.send({ type: "test:unregister", testId: named.testId });
    await worker.waitFor("test:unregistered", ({ testId }) => testId === named.testId);
    worker.seen.length = 0;
  }
  const { passed } = (await proxy.get("/api/connections")).local;
  worker.close();
  await agent.stop();
  await upstream.stop();
  await proxy.stop();
  return { early, unasked: passed };
}
