// Patterns of hosts: the agent reads those of the proxy, by the same table of cases.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { describe, test } from "node:test";

const require = createRequire(import.meta.url);
const { normalPattern } = require("../src/host-pattern.js");
const { Hosts } = require("../src/hosts.js");
const { readSettings } = require("../src/settings.js");
const table = require("../../tests/data/host_patterns.json");

const proxyUrl = "http://127.0.0.1:4310";

/** The hosts that are left alone by a pattern of the user. */
const ignoring = (pattern) => new Hosts(readSettings({ proxyUrl, ignoreHosts: [pattern] }, {}));

/** The hosts of the system under test by a pattern that the proxy sends. */
function withOwn(...sent) {
  const hosts = new Hosts({ proxyUrl, ignoreHosts: [] });
  hosts.setSystem(sent);
  return hosts;
}

describe("the table", () => {
  test("a pattern matches its hosts, and no others; so does its normal form", () => {
    assert.ok(table.patterns.length > 25);
    for (const { pattern, normal = pattern, matches, others } of table.patterns) {
      assert.equal(normalPattern(pattern), normal, pattern);
      assert.equal(normalPattern(normal), normal);
      for (const url of [...matches, ...others].map((each) => new URL(each))) {
        const expected = matches.some((each) => new URL(each).href === url.href);
        assert.equal(ignoring(pattern).isIgnored(url), expected, `${pattern} ${url}`);
        const isKnown = withOwn().isOfSystem(url);
        assert.equal(withOwn(normal).isOfSystem(url), expected || isKnown, `${normal} ${url}`);
      }
    }
  });

  test("what no host can match is refused, with the pattern", () => {
    for (const wrong of Object.keys(table.wrong)) {
      assert.equal(normalPattern(wrong), undefined, wrong);
      assert.throws(
        () => readSettings({ proxyUrl, ignoreHosts: ["ok.test", wrong] }, {}),
        ({ name, message }) => name === "TypeError" && message.endsWith(`not ${JSON.stringify(wrong)}`),
      );
    }
  });

  test("hosts of this machine, names without a dot and those that are sent are under test", () => {
    const { matches, others } = table.under_test;
    const hosts = withOwn("*.own.test");
    for (const url of [...matches, ...others]) {
      assert.equal(hosts.isOfSystem(new URL(url)), matches.includes(url), url);
    }
  });
});
