// @ts-check
/** The owner of a request or WebSocket: which test decided about it, and why. */

import { matcherText } from "../data/routes.js";
import { upstreamError } from "../data/upstream.js";
import { h } from "../lib/dom.js";
import { link } from "../lib/address.js";
import { visible } from "../lib/text.js";

/** @typedef {import("../../../rest-records.js").Claimant} Claimant */
/** @typedef {import("../../../rest-records.js").HttpEntry} HttpEntry */
/** @typedef {import("../../../rest-records.js").WebSocketEntry} WebSocketEntry */
/** @typedef {import("../../../rest-records.js").Worker} Worker */

/** @typedef {{code?: string, errorCode?: string, message?: string, matches?: Claimant[]}} Ending of a request, or a WebSocket */

/**
 * Advice by error code. That for an ambiguous request is in its message already.
 *
 * @type {Record<string, string>}
 */
const ADVICE = {
  claim_timeout:
    "A test that had to be asked gave no answer in time. Its process is blocked (a breakpoint, " +
    "a long computation), or the predicate of a route threw.",
  disconnected: "Whoever had to decide was gone: the test ended before its handler decided, or its worker was lost.",
  unmatched_request: "Strict mode refuses what no route wants. Add a route, or allow the host or URL.",
  handler_failed: "The handler's answer was malformed, or no HTTP response can carry it.",
};

const ALSO =
  "The request carries the context of its test, so others did not get it. If one of them expected it, " +
  "the application took the context from the wrong request, for example in a cache or a queue.";

/**
 * @param {HttpEntry | WebSocketEntry} entry a request, or a WebSocket
 * @param {Worker[]} workers the connected ones, with their tests
 */
export function ownerView(entry, workers) {
  /** @type {Ending} */
  const outcome =
    typeof entry.outcome === "string"
      ? { code: entry.errorCode, message: entry.errorMessage, matches: entry.matches }
      : entry.outcome;
  const action = "action" in entry ? entry.action : entry.outcome;
  const threw = action === "abort" ? entry.events.find((event) => event.kind === "abort")?.detail : undefined;
  const message = outcome.message ?? (threw === outcome.errorCode ? undefined : threw);
  const failed = upstreamError(entry.events);
  const broken = entry.events.find((event) => event.kind === "broken_off")?.detail;
  const advice = ADVICE[outcome.code ?? ""];
  return h(
    "section",
    { class: `owner owner-${action}` },
    h("h3", {}, sentence(action, entry, outcome, message)),
    entry.title !== undefined && test(entry),
    message && h("p", { class: "problem" }, visible(message)),
    failed !== undefined && h("p", { class: "problem" }, `Upstream failed: ${visible(failed) || "no reason given"}`),
    broken !== undefined && h("p", { class: "problem" }, `The answer broke off: ${visible(broken)}`),
    outcome.matches?.length ? claimants("Who wanted it", outcome.matches) : false,
    entry.alsoMatched?.length ? alsoMatched(entry.alsoMatched, workers) : false,
    "mixed" in entry && entry.mixed && h("p", { class: "advice" }, `${entry.mixed.how} ${entry.mixed.remedy}`),
    entry.otherTests &&
      h(
        "p",
        { class: "advice" },
        `It carries no context, and other tests ran: ${entry.otherTests}. The test got it by its URL alone; it may be one of theirs.`,
      ),
    advice && h("p", { class: "advice" }, advice),
    action === "passthrough" &&
      entry.title === undefined &&
      h(
        "p",
        { class: "advice" },
        "If a test should have taken it: was its route registered before the request, " +
          "and does its glob match the whole URL, with the query?",
      ),
  );
}

/** @param {string} action @param {HttpEntry | WebSocketEntry} entry @param {Ending} outcome @param {string} [message] */
function sentence(action, entry, outcome, message) {
  if (outcome.code === "ambiguous_route") return "More than one test wanted it, so none got it";
  if (outcome.code === "unmatched_request") return "No route wanted it, so strict mode refused it";
  /** @type {Record<string, string>} */
  const sentences = {
    fulfill: "A test answered it",
    continue: "overrides" in entry && entry.overrides ? "A test let it go on, changed" : "A test let it go on",
    abort: aborted(outcome.errorCode, message),
    passthrough: passed(entry),
    error: `It failed: ${outcome.code ?? "error"}`,
    pending: "It waits for a decision",
    recorded: "It is an entry of a HAR, which does not say who decided",
    matched: "A test handles it",
  };
  return visible(sentences[action] ?? action);
}

/** @param {HttpEntry | WebSocketEntry} entry */
function passed({ late, title }) {
  if (late) return "Its test had ended: it went to the real network";
  if (title !== undefined) return "No route of its test matches: it went to the real network";
  return "No test wanted it: it went to the real network";
}

/**
 * Only a request that the application cancelled is "aborted" with a message; errors of handlers are "failed".
 *
 * @param {string} [code] @param {string} [message]
 */
function aborted(code = "", message) {
  if (!message) return `A test made it fail: ${code}`;
  if (code === "aborted") return "The application gave it up before a test had decided";
  return `A test made it fail: ${code}, because of an error`;
}

/** @param {HttpEntry | WebSocketEntry} entry */
function test(entry) {
  const view = typeof entry.outcome === "string" ? "ws" : "http";
  return h(
    "dl",
    { class: "facts" },
    h("dt", {}, "Test"),
    h(
      "dd",
      {},
      h("strong", {}, h("bdi", {}, visible(entry.title ?? ""))),
      " ",
      h("a", { href: link({ view, test: entry.testId ?? "" }) }, "all of this test"),
    ),
    h("dt", {}, "File"),
    h("dd", { class: "mono" }, visible(entry.path ?? "")),
    entry.routeId && h("dt", {}, "Route"),
    entry.routeId && h("dd", { class: "mono", title: `id ${visible(entry.routeId)}` }, ...routeWords(entry)),
  );
}

/** An older proxy names a route by its id only. @param {HttpEntry | WebSocketEntry} entry */
function routeWords({ route, routeId = "" }) {
  return route ? shownRoute(route) : [visible(routeId)];
}

/** @param {import("../../../rest-records.js").ShownRoute} route its pattern, and below it its place if known */
function shownRoute({ matcher, place }) {
  return [matcherText(matcher), place && h("div", { class: "size" }, visible(place))];
}

/**
 * Return a note about routes that match a request with the context of another test.
 *
 * @param {string[]} ids of the routes
 * @param {Worker[]} workers
 */
function alsoMatched(ids, workers) {
  const known = workers.flatMap(({ workerId, tests = [] }) =>
    tests.flatMap(({ title, file, routes }) => routes.map((route) => ({ ...route, title, file, workerId }))),
  );
  const found = ids.map((id) => known.find(({ routeId }) => routeId === id)).filter((route) => route !== undefined);
  const gone = ids.length - found.length;
  return h(
    "div",
    {},
    found.length > 0 && claimants("Other tests whose routes match", found),
    gone > 0 && h("p", { class: "note" }, `Routes of other tests that matched, and are gone: ${gone}.`),
    h("p", { class: "advice" }, ALSO),
  );
}

/** @param {string} caption @param {(Omit<Claimant, "testId" | "workerId"> & {workerId?: string, place?: string})[]} matches */
function claimants(caption, matches) {
  return h(
    "table",
    { class: "claimants" },
    h("caption", {}, caption),
    h(
      "thead",
      {},
      h("tr", {}, ...["Test", "File", "Worker", "Route"].map((title) => h("th", { scope: "col" }, title))),
    ),
    h(
      "tbody",
      {},
      ...matches.map((match) =>
        h(
          "tr",
          {},
          h("td", {}, visible(match.title)),
          h("td", { class: "mono" }, visible(match.file)),
          h("td", {}, visible(match.workerId ?? "")),
          h("td", { class: "mono" }, ...shownRoute(match)),
        ),
      ),
    ),
  );
}
