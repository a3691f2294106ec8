/*
 * The fixtures in the machine's own Firefox, by WebDriver BiDi. Of the versions of Playwright tried, 1.62 can use that one:
 * 1.55 does not know the channel, and 1.65 sends it a command that Firefox 153 does not know.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { selfSigned } from "../../../agent/test/lib/certificate.mjs";
import { runFixtures } from "../lib/run-fixtures.mjs";

const FIREFOX = "/usr/bin/firefox-esr";
const playwright = fileURLToPath(new URL("node_modules/playwright-1.62", import.meta.url));
const options = { skip: !existsSync(FIREFOX) && `${FIREFOX} is not installed` };

for (const scheme of ["http", "https"]) {
  test(`tests side by side on one shop by ${scheme}`, options, async () => {
    const { key: SHOP_KEY, cert: SHOP_CERT } = scheme === "https" ? selfSigned() : {};
    const shop = scheme === "https" ? { SHOP_KEY, SHOP_CERT } : {};
    const ended = await runFixtures(
      ["parallel.spec.mjs"],
      { FIREFOX, WORKERS: "2", ROUNDS: "2", ...shop },
      { playwright },
    );
    assert.deepEqual(ended.failed, []);
    assert.equal(ended.passed.length, 6);
  });
}
