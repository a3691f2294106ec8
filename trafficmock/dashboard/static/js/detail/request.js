// @ts-check
/** The detail of an HTTP request. */

import { actionClass } from "../data/actions.js";
import { entryPath } from "../data/api.js";
import { run } from "../data/saved.js";
import { processesOf } from "../data/clients.js";
import { change, parameters } from "../lib/address.js";
import { upstreamCode, upstreamError } from "../data/upstream.js";
import { fill, h } from "../lib/dom.js";
import { dateTime, duration } from "../lib/format.js";
import { cut, visible } from "../lib/text.js";
import { bodySize } from "../bodies/view.js";
import { asCurl, asFetch } from "../copy/request.js";
import { asJavaScript, asPython } from "../copy/route.js";
import { copyPart, isExact, secretsSwitch, written } from "../copy/written.js";
import { chainTab, hops } from "./chain.js";
import { overridesTab } from "./diff.js";
import { closeButton, noEntry } from "./head.js";
import { requestTab, responseTab } from "./message.js";
import { ownerView } from "./owner.js";
import { Tabs } from "./tabs.js";
import { timelineTab } from "./timeline.js";

/** @typedef {import("../../../rest-records.js").HttpEntry} HttpEntry */

/** @typedef {import("../data/rows.js").Row} Row */

const LONGEST_URL = 3000;

/** @param {HttpEntry} entry */
const took = ({ outcome, durationMs }) => (outcome.response?.bodyPending ? "open" : duration(durationMs));

export class RequestDetail {
  /**
   * @param {object} options
   * @param {import("../data/store.js").Store} options.store
   * @param {() => void} options.onclose
   * @param {(id: string) => void} options.onwalk another hop of the redirect chain is chosen
   */
  constructor({ store, onclose, onwalk }) {
    this.store = store;
    this.onclose = onclose;
    this.onwalk = onwalk;
    /** @type {HttpEntry | null} */
    this.entry = null;
    this.head = h("div", { class: "detail-head" });
    this.tabs = new Tabs("Parts of the entry", (name) => change({ tab: name === "overview" ? null : name }));
    this.element = h("div", { class: "detail" }, this.head, this.tabs.list, this.tabs.panel);
  }

  /** @param {HttpEntry} entry @param {Row | undefined} row */
  show(entry, row) {
    const another = this.entry?.id !== entry.id;
    this.entry = entry;
    this.showHead(entry);
    const chain = row ? hops(row, this.store.requests.byId) : [];
    /** @type {Parameters<Tabs["show"]>[0]} */
    const tabs = [
      {
        name: "overview",
        title: "Overview",
        show: () => [ownerView(entry, this.store.connections.runnerWorkers), this.facts(entry)],
      },
      {
        name: "request",
        title: "Request",
        of: JSON.stringify([entry.id, entry.request]),
        show: () => requestTab(entry),
      },
      {
        name: "response",
        title: "Response",
        of: JSON.stringify([entry.id, entry.action, entry.outcome, upstreamError(entry.events)]),
        show: () => responseTab(entry),
      },
      { name: "timeline", title: "Timeline", show: () => timelineTab(entry) },
    ];
    if (entry.overrides) tabs.splice(2, 0, { name: "overrides", title: "Changes", show: () => overridesTab(entry) });
    if (chain.length > 1) {
      tabs.push({
        name: "redirects",
        title: `Redirects (${chain.length})`,
        show: () => chainTab(chain, entry.id, this.onwalk),
      });
    }
    this.tabs.show(tabs, another ? (parameters().get("tab") ?? this.tabs.current) : this.tabs.current);
  }

  /** @param {HttpEntry} entry */
  showHead(entry) {
    const { request, outcome } = entry;
    const button = (
      /** @type {string} */ text,
      /** @type {string} */ name,
      /** @type {(entry: HttpEntry) => string} */ make,
    ) =>
      h(
        "button",
        { type: "button", class: "small", "aria-label": `Copy as ${name}`, onclick: () => copyAs(entry, make, name) },
        text,
      );
    fill(
      this.head,
      h(
        "div",
        { class: "detail-title" },
        h("span", { class: `badge ${actionClass(entry.action)}` }, entry.action),
        h("strong", { class: "detail-method" }, visible(request.method)),
        outcome.response &&
          h(
            "span",
            { class: `detail-status status-${Math.floor(outcome.response.status / 100)}` },
            String(outcome.response.status),
          ),
        h("span", { class: "size" }, took(entry)),
        closeButton(this.onclose),
      ),
      h("h2", { class: "detail-url" }, h("bdi", {}, visible(cut(request.url, LONGEST_URL)))),
      h(
        "div",
        { class: "detail-deeds", role: "group", "aria-label": "Copy and save" },
        h("span", { class: "deeds-title" }, "Copy as"),
        button("cURL", "cURL", curlOf),
        button("fetch", "fetch", ({ request }) => asFetch(request)),
        button("Route (JS)", "route for JavaScript", asJavaScript),
        button("Route (Python)", "route for Python", asPython),
        outcome.response &&
          !run &&
          h("a", { class: "button small", href: harPath(entry), download: "", onclick: aim(entry) }, "HAR"),
        secretsSwitch(),
      ),
    );
  }

  /** @param {string} text */
  fail(text) {
    this.entry = null;
    fill(this.head, noEntry(this.onclose));
    this.tabs.showOnly(h("p", { class: "note" }, text));
  }

  /** @param {number} by */
  step(by) {
    if (this.entry) this.tabs.step(by);
  }

  copyCurl() {
    if (this.entry) copyAs(this.entry, curlOf, "cURL");
  }

  /** @param {HttpEntry} entry */
  facts(entry) {
    const { request, outcome } = entry;
    const answered = outcome.response ? `, response ${bodySize(outcome.response)}` : "";
    const rows = [
      ["Time", dateTime(entry.timestamp)],
      ["Duration", took(entry) || "not settled"],
      ["Client", entry.clientId],
      ["Client now", processesOf(this.store.connections.nodeAgents, entry.clientId)],
      ["Status", status(entry)],
      ["Sizes", `request ${bodySize(request)}${answered}`],
      ["Request id", entry.id],
    ];
    const shown = rows
      .filter(([, value]) => value)
      .flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, visible(value))]);
    return h("section", {}, h("h3", {}, "Facts"), h("dl", { class: "facts" }, ...shown));
  }
}

/** @param {HttpEntry} entry */
const curlOf = ({ request }) => asCurl(request);

/** @param {HttpEntry} entry @param {(entry: HttpEntry) => string} make @param {string} name */
function copyAs(entry, make, name) {
  copyPart(written("history", entry).then(make), name);
}

/** @param {HttpEntry} entry */
const harPath = (entry) => `${entryPath("history", entry.id)}/har${isExact() ? "?redact=off" : ""}`;

/** Follow the switch for secrets, which may have changed since the link was made. @param {HttpEntry} entry */
const aim = (entry) => (/** @type {MouseEvent & {currentTarget: HTMLAnchorElement}} */ event) => {
  event.currentTarget.href = harPath(entry);
};

/** @param {HttpEntry} entry */
function status({ outcome, events }) {
  if (outcome.response) return `${outcome.response.status} ${outcome.response.statusText}`;
  const failed = upstreamError(events);
  const code = outcome.errorCode ?? outcome.code ?? (failed === undefined ? undefined : upstreamCode(failed));
  return code ? `none: ${code}` : "none";
}
