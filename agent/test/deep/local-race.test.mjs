import assert from "node:assert/strict";
import { test } from "node:test";
import { race } from "../lib/race.mjs";

const ROUTES = Number(process.env.TRAFFICMOCK_ROUTES ?? 2000);
const STOPPED_MS = 3000;

test(`${ROUTES} routes, while the application blocks and is stopped, and links are cut on either side`, async () => {
  const { after, leaked, answers } = await race({
    routes: ROUTES,
    disturb: (n, { cut, signal }) => {
      if (n % 50 === 20) setTimeout(cut, Math.random() * 20, n % 100 === 20 ? "near" : "far");
      if (n % 200 !== 100) return;
      setTimeout(signal, Math.random() * 20, "SIGSTOP");
      setTimeout(signal, STOPPED_MS, "SIGCONT");
    },
  });
  assert.equal(leaked, 0);
  assert.ok(after >= ROUTES);
  assert.ok(answers.real > 0, "some passed before their route was there");
});
