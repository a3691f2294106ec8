/* The fixtures in the real Playwright, with the real proxy, a real application and Chromium. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { runFixtures } from "./lib/run-fixtures.mjs";

const SPEC = readFileSync(new URL("specs/fixtures/report.spec.mjs", import.meta.url), "utf8").split("\n");

/** @param {string} page the page of a report @returns {any} the document of its run */
const runOf = (page) => JSON.parse(/id="run">(.*?)<\/script>/s.exec(page)[1]);

describe("one run of two workers", () => {
  let ended;

  before(async () => {
    ended = await runFixtures([], { WORKERS: "2", ROUNDS: "1" });
  });

  /** What the report says of one test. */
  function reported(title) {
    const found = ended.tests.find((each) => each.title === title);
    assert.ok(found, `${title} did not run: ${ended.failed}`);
    const attachments = found.result.attachments.filter(({ body }) => body);
    return {
      status: found.result.status,
      text: found.result.errors.map(({ message }) => message).join("\n"),
      steps: (found.result.steps ?? []).map((step) => step.title),
      attached: Object.fromEntries(attachments.map(({ name, body }) => [name, Buffer.from(body, "base64").toString()])),
      location: found.result.errors[0]?.location,
      annotations: found.result.annotations ?? found.annotations,
    };
  }

  test("tests side by side on one application each get their own answers", () => {
    const parallel = ended.tests.filter(({ title }) => / \d$/.test(title));
    assert.equal(parallel.length, 3);
    for (const { title } of parallel) assert.equal(reported(title).status, "passed", reported(title).text);
  });

  for (const title of [
    "the fixtures reach each port of loopback with the context",
    "so does a request context that the test opens itself",
    "no other port gets the context",
    "the route of the run answers one worker",
    "the route of the run answers another worker",
    "the error says where the test sent no context",
  ]) {
    test(title, () => assert.equal(reported(title).status, "passed", reported(title).text));
  }

  for (const title of ["mixed: the other one mocks it", "mixed: it is asked in its context"]) {
    test(`${title}: both are told of it, and pass`, () => {
      const { status, text, annotations } = reported(title);
      assert.equal(status, "passed", text);
      const [one, ...others] = annotations.filter(({ type }) => type === "trafficmock");
      assert.deepEqual(others, []);
      assert.match(
        one.description,
        /^GET http:\/\/prices\.example\/price\/mixed of the application "shop": It carries the /,
      );
      assert.match(
        one.description,
        /"mixed: it is asked in its context" .*only the test "mixed: the other one mocks it" /,
      );
    });
  }

  test("routes and waits are steps; a test that passed has no traffic attached", () => {
    const { status, steps, attached } = reported("passes");
    assert.equal(status, "passed");
    assert.deepEqual(attached, {});
    for (const step of ["trafficmock.route **/price/*", "trafficmock.waitForRequest **/price/cup"]) {
      assert.ok(steps.includes(step), steps.join());
    }
    assert.ok(
      steps.some((step) => /^trafficmock: GET http.*\/price\/cup$/.test(step)),
      steps.join(),
    );
  });

  test("a test that failed has its server's traffic attached, without secrets", () => {
    const { attached } = reported("an assertion fails");
    const [{ requests, routes, error }] = runOf(attached["server-traffic.html"]).tests;
    assert.match(requests[0].request.url, /prices\.example\/price\/cup/);
    assert.equal(requests[0].action, "fulfill");
    assert.match(routes[0].handler, /^the handler price/);
    assert.match(error, /expect\(received\)/);
    const { entries } = JSON.parse(attached["server-traffic.har"]).log;
    assert.equal(entries[0].response.content.text, '{"price":1}');
    // That one has the source of the test.
    const { "error-context": _, ...traffic } = attached;
    assert.doesNotMatch(Object.values(traffic).join(), /hush/);
  });

  test("an error in a handler is shown with its line", () => {
    const { text, location } = reported("a handler throws");
    assert.match(
      text,
      /no price today\nin the handler \(.*report\.spec\.mjs:\d+\), registered for "\*\*\/price\/\*", on GET/,
    );
    assert.match(location.file, /report\.spec\.mjs$/);
  });

  test("a wait that times out says what came", () => {
    const { text, location } = reported("nothing comes");
    assert.match(text, /Timeout 300ms.*\n.*nearest first:\n\s+GET http:\/\/prices\.example\/price\/cup.*path differs/);
    assert.match(location.file, /report\.spec\.mjs$/);
  });

  test("the error of a test has the routes that no request met, and what differs", () => {
    const { text, attached } = reported("a route is misspelt");
    const nearest = String.raw`GET http://prices\.example/price/cup \(client shop\): path differs \('/price/cup', not '/prices/\*'\)`;
    const unmet = String.raw`no request met the route "http://prices\.example/prices/\*": the handler \(.*\n\s+${nearest}`;
    const whole = new RegExp(String.raw`502[^]*without a route of this test: [^]*client shop\n\s+${unmet}`);
    assert.match(text, whole);
    assert.match(attached["error-context"], whole);
    const [{ routes, error }] = runOf(attached["server-traffic.html"]).tests;
    assert.match(error, /no request met the route/);
    assert.equal(routes[0].requests, 0);
    assert.equal(runOf(reported("an assertion fails").attached["server-traffic.html"]).tests[0].routes[0].requests, 1);
    const { text: other } = reported("an assertion fails");
    assert.match(other, /decided by this test: 1\n\s+GET http:\S+, \d+, client shop, fulfill/);
    assert.doesNotMatch(other, /no request met|without a route/);
  });

  test("a route that came late, and one for another client, are told apart", () => {
    const { text } = reported("a route comes late, and one has another client");
    assert.match(text, /the route "http:.*: the mock \(.*\n.*\/price\/cup .*: came before the route was registered/);
    assert.match(text, /the route .*shopp: the handler.*\n.*client differs \('shop', not 'shopp'\)/);
  });

  test("a test that no request reached says which applications are connected", () => {
    assert.match(reported("no request comes").text, /shop, by the Node agent[^]*No request came since the test began/);
  });

  test("a required mock that no request met fails the test, at the line of the mock", () => {
    const { text, location, attached } = reported("a required mock is not met");
    const unmet = String.raw`no request met the route "http://prices\.example/prices/\*": the mock \(.*report\.spec\.mjs:\d+\)`;
    // The text ends with the lines of the spec. The request that came is not named: another mock of the test answered it.
    const [told] = text.split("\n\n");
    assert.match(told, new RegExp(String.raw`^UnmetRouteError: ${unmet}$`));
    assert.match(location.file, /report\.spec\.mjs$/);
    assert.match(SPEC[location.line - 1], /the line that the report names/);
    assert.match(attached["server-traffic.html"], /no request met the route/);
  });

  test("the option makes all routes of a test required", () => {
    assert.equal(reported("an exempt route and those that are met or removed").status, "passed");
    assert.match(reported("a required route is not met").text, /UnmetRouteError: .*"\*\*\/prices\/\*": the handler \(/);
    assert.match(reported("a required route is not met").text, /No request of any application came[^]*shop, by/);
    assert.doesNotMatch(reported("a test that fails before its request").text, /UnmetRouteError/);
    assert.equal(reported("a test that is skipped before its request").status, "skipped");
  });

  test("settings of a file that replace the fixture are refused, with where they belong", () => {
    assert.match(
      reported("the fixture is replaced").text,
      /UsageError: test\.use\(\{ trafficmock \}\).*trafficmockOptions/,
    );
  });

  test("a request that nobody decides fails, and so does its test", () => {
    assert.match(reported("nobody decides").text, /ended before the handler \(.*\) decided about GET/);
  });

  test("several errors are told together", () => {
    assert.match(reported("several things go wrong").text, /first\n[^]*second/);
  });

  test("nothing else failed", () => {
    assert.equal(ended.failed.length, 12, ended.failed.join("\n\n"));
  });
});
