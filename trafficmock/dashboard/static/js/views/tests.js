// @ts-check
/** The first page of a report: the tests of the run with their routes, and what no test owned. */

import { leftApplication } from "../data/hosts.js";
import { matcherText } from "../data/routes.js";
import { run } from "../data/saved.js";
import { link } from "../lib/address.js";
import { fill, h } from "../lib/dom.js";
import { dateTime, duration, plural } from "../lib/format.js";
import { cut, oneLine, visible } from "../lib/text.js";

/** @typedef {import("../../../run-document.js").ReportedRoute} ReportedRoute */
/** @typedef {import("../../../run-document.js").ReportedTest} ReportedTest */
/** @typedef {import("../../../run-document.js").RunDocument} RunDocument */
/** @typedef {import("../../../run-document.js").RunProcess} RunProcess */

/** The colours of outcomes, by the actions that have them; that of a failure is the default. @type {Record<string, string>} */
const OUTCOMES = { passed: "fulfill", skipped: "pending", unknown: "pending" };

const MOST_TESTS = 1000;
const MOST_ROUTES = 200;
const MOST_REFUSED = 200;
const MOST_HARS = 200;
const MOST_ENTRIES = 20;
const LONGEST_ERROR = 20_000;
const LONGEST_URL = 300;
const MOST_LEFT = 5;
const LONGEST_HOST = 100;

export class TestsView {
  /** @param {import("../data/store.js").Store} store */
  constructor(store) {
    this.store = store;
    this.element = h("div", { class: "page tests" });
  }

  enter() {
    if (run && !this.element.hasChildNodes()) this.show(run);
  }

  heard() {
    // The run has ended.
  }

  /** @param {RunDocument} document */
  show(document) {
    const { tests, processes } = document;
    const shown = tests.slice(0, MOST_TESTS);
    fill(
      this.element,
      h("h1", {}, "Tests"),
      processes.length > 0 && h("p", { class: "note" }, spanOf(processes)),
      ...processes.filter((each) => !each.ended || each.problem).map(problem),
      processes.length > 0 && figures(document),
      tests.length === 0 && h("p", { class: "note" }, "The report has the traffic of no test: see its mode."),
      ...shown.map(testPanel),
      tests.length > shown.length && h("p", { class: "note" }, `and ${tests.length - shown.length} more, in run.json`),
      document.refused.length > 0 && refusedPanel(document),
      document.hars?.length ? harsPanel(document.hars) : false,
    );
  }
}

/** @param {RunProcess[]} processes */
function spanOf(processes) {
  const runners = [...new Set(processes.map(({ runner }) => runner))].join(", ");
  const began = Math.min(...processes.map(({ startedAt }) => startedAt));
  return `${visible(runners)}, ${plural(processes.length, "process", "processes")}, since ${dateTime(began)}`;
}

/** @param {RunProcess} process */
function problem({ runner, worker, ended, problem: text = "" }) {
  const what = ended ? "" : " did not end, so what it would have added is missing";
  return h("p", { class: "notice notice-bad" }, visible(`Worker ${worker} of ${runner}${what}${text && `: ${text}`}`));
}

/** @param {RunDocument} document of a run; the page of one test, in Playwright's report, has no process */
function figures({ counts, totals, unowned, refused, refusedDropped }) {
  const left = unowned.requests.length + unowned.webSockets.length + unowned.omitted;
  const sum = refused.reduce((all, { count }) => all + count, refusedDropped);
  const { passed, to } = leftApplication(totals.requests);
  const where = passed ? `: ${leftFor(to)}` : "";
  return h(
    "div",
    { class: "figures" },
    ...["failed", "passed", "skipped"].map((outcome) =>
      figure(counts[outcome] ?? 0, `tests ${outcome}`, outcome === "failed" && counts.failed ? "figure-error" : ""),
    ),
    figure(totals.requests.total, "requests", "", { view: "http" }),
    figure(passed, `of them went out unmocked${where}`, passed ? "figure-passthrough" : "", {
      view: "http",
      action: "passthrough",
    }),
    figure(left, "that no test owned", left ? "figure-passthrough" : "", { view: "http", owner: "unowned" }),
    sum > 0 && figure(sum, "refused by strict mode, of no test", "figure-error"),
  );
}

/** @param {[string, number][]} left @returns {string} to which hosts requests went out */
function leftFor(left) {
  const shown = left.slice(0, MOST_LEFT).map(([host, n]) => `${cut(host, LONGEST_HOST)} (${n})`);
  return visible([...shown, ...(left.length > MOST_LEFT ? [`${left.length - MOST_LEFT} more hosts`] : [])].join(", "));
}

/** @param {number} count @param {string} text @param {string} kind @param {Record<string, string>} [where] its link */
function figure(count, text, kind, where) {
  const content = [h("strong", {}, count.toLocaleString("en")), h("span", {}, text)];
  if (!where) return h("div", { class: `figure ${kind}` }, ...content);
  return h("a", { class: `figure ${kind}`, href: link(where) }, ...content);
}

/** @param {ReportedTest} test */
function testPanel(test) {
  const { id, title, file, line, outcome, retry, error, missing, requests, webSockets, har, routes, omitted } = test;
  const { sections = [] } = test;
  const about = [
    retry ? `retry ${retry}` : "",
    [test.runner, test.worker && `worker ${test.worker}`].filter(Boolean).join(" "),
    dateTime(test.startedAt),
    duration(test.durationMs),
  ];
  return h(
    "section",
    { class: "panel tested", id: `test-${id}` },
    h(
      "h2",
      {},
      h("span", { class: `badge action-${OUTCOMES[outcome] ?? "error"}` }, visible(outcome)),
      " ",
      h("bdi", {}, visible(title)),
    ),
    h(
      "p",
      { class: "size" },
      h("span", { class: "mono" }, visible(line ? `${file}:${line}` : file)),
      ` · ${visible(about.filter(Boolean).join(" · "))}`,
    ),
    missing && h("p", { class: "problem" }, visible(missing)),
    h(
      "p",
      { class: "deeds" },
      h("a", { href: link({ view: "http", test: id }) }, plural(requests.length, "request")),
      " · ",
      h("a", { href: link({ view: "ws", test: id }) }, plural(webSockets.length, "WebSocket")),
      ...meanwhile(test),
      isOwnHar(har) && " · ",
      isOwnHar(har) && h("a", { href: har, download: "" }, "HAR"),
      omitted > 0 && h("span", { class: "size" }, ` · ${omitted} more were too large for the report`),
    ),
    error && h("pre", { class: "error-text", tabindex: 0 }, visible(cut(error, LONGEST_ERROR))),
    ...sections.flatMap(section),
    routes.length > 0 && routesTable(routes),
  );
}

/** Return whether a text is the path of a HAR of the report: no other is linked. @param {unknown} har @returns {har is string} */
function isOwnHar(har) {
  return typeof har === "string" && /^har\/[A-Za-z0-9._-]+\.har$/.test(har);
}

/** @param {{ title: string, text: string }} section of what the runner shows of a failure */
function section({ title, text }) {
  return [
    h("h3", {}, visible(title)),
    h("pre", { class: "error-text", tabindex: 0, "aria-label": title }, visible(cut(text, LONGEST_ERROR))),
  ];
}

/** Link what no test owned while a test ran: it may be the test's. @param {ReportedTest} test */
function meanwhile({ startedAt, durationMs }) {
  const until = startedAt + durationMs;
  const found = run?.unowned.requests.filter(({ timestamp }) => timestamp >= startedAt && timestamp <= until) ?? [];
  if (!found.length) return [];
  const where = { view: "http", owner: "unowned", from: String(startedAt), to: String(until) };
  return [" · ", h("a", { href: link(where) }, `${plural(found.length, "request")} of no test meanwhile`)];
}

/** @param {ReportedRoute[]} routes */
function routesTable(routes) {
  const titles = ["Route", "Handler", "Place", "Requests"];
  const more = routes.length - MOST_ROUTES;
  return h(
    "div",
    { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Routes" },
    h(
      "table",
      { class: "wide" },
      h("thead", {}, h("tr", {}, ...titles.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, ...routes.slice(0, MOST_ROUTES).map(routeLine)),
    ),
    more > 0 && h("p", { class: "note" }, `and ${more} more`),
  );
}

/** @param {ReportedRoute} route */
function routeLine({ kind, matcher, handler = "", place = "", requests }) {
  return h(
    "tr",
    {},
    h("td", { class: "mono" }, kind === "websocket" ? "WebSocket " : "", matcherText(matcher)),
    h("td", {}, visible(handler)),
    h("td", { class: "mono" }, visible(place)),
    h("td", { class: `number ${requests ? "" : "bad"}` }, requests.toLocaleString("en")),
  );
}

/** @param {import("../../../run-document.js").UsedHar[]} hars */
function harsPanel(hars) {
  const titles = ["HAR", "Entries", "Not used"];
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Recordings"),
    h(
      "div",
      { class: "scrolls", tabindex: 0, role: "region", "aria-label": "Recordings" },
      h(
        "table",
        { class: "wide" },
        h("thead", {}, h("tr", {}, ...titles.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...hars.slice(0, MOST_HARS).map(harLine)),
      ),
    ),
    hars.length > MOST_HARS && h("p", { class: "note" }, `and ${hars.length - MOST_HARS} more, in run.json`),
  );
}

/** @param {import("../../../run-document.js").UsedHar} har */
function harLine({ file, entries, used }) {
  const known = new Set(used);
  const unused = Array.from({ length: entries }, (_, index) => index + 1).filter((number) => !known.has(number));
  const more = unused.length > MOST_ENTRIES ? ` and ${unused.length - MOST_ENTRIES} more` : "";
  return h(
    "tr",
    {},
    h("td", { class: "mono" }, visible(file)),
    h("td", { class: "number" }, entries.toLocaleString("en")),
    h("td", {}, unused.slice(0, MOST_ENTRIES).join(", ") + more || "none"),
  );
}

/** @param {RunDocument} document */
function refusedPanel({ refused, refusedDropped }) {
  const titles = ["Request", "Client", "Times"];
  const more = refused.length - MOST_REFUSED;
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Refused by strict mode, of no test"),
    h(
      "table",
      { class: "wide" },
      h("thead", {}, h("tr", {}, ...titles.map((name) => h("th", { scope: "col" }, name)))),
      h(
        "tbody",
        {},
        ...refused
          .slice(0, MOST_REFUSED)
          .map(({ method = "", url, clientId, count }) =>
            h(
              "tr",
              {},
              h("td", { class: "mono" }, oneLine(cut(`${method} ${url}`, LONGEST_URL))),
              h("td", {}, visible(clientId)),
              h("td", { class: "number" }, count.toLocaleString("en")),
            ),
          ),
      ),
    ),
    more > 0 && h("p", { class: "note" }, `and ${more} more, in run.json`),
    refusedDropped > 0 && h("p", { class: "note" }, `and ${refusedDropped} that the proxy did not keep`),
  );
}
