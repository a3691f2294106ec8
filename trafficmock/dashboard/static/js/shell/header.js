// @ts-check
/** The header of the page: links to the views, and the state of the proxy. */

import { fill, h } from "../lib/dom.js";
import { link, TITLES, VIEWS } from "../lib/address.js";
import { run } from "../data/saved.js";
import { visible } from "../lib/text.js";
import { themeButton } from "./theme.js";

/** @typedef {import("../data/store.js").Store} Store */

/** @type {Record<string, string>} */
const WORDS = {
  connecting: "connecting…",
  live: "live",
  paused: "paused",
  away: "proxy away",
  saved: run?.har === undefined ? "report" : "HAR",
};

/** @param {Store["health"]} health of the proxy @returns {string} its version, and what it does not record */
function recordedBy(health) {
  if (!health) return "";
  const { version, historyCapture } = health;
  return `proxy ${version}${historyCapture === "all" ? "" : ` · records: ${historyCapture}`}`;
}

export class Header {
  /**
   * @param {HTMLElement} place
   * @param {object} options
   * @param {Store} options.store
   * @param {(paused: boolean) => void} options.onpause
   * @param {() => void} options.onhelp
   */
  constructor(place, { store, onpause, onhelp }) {
    this.store = store;
    this.paused = false;
    this.onpause = onpause;
    this.links = new Map(
      VIEWS.map((name) => {
        const count = h("span", { class: "count" });
        const element = h("a", { href: link({ view: name }) }, TITLES[name], " ", count);
        return [name, { element, count }];
      }),
    );
    this.theme = themeButton();
    this.pill = h("span", { class: "pill" });
    this.pauseButton = h("button", {
      type: "button",
      class: "quiet",
      "aria-keyshortcuts": "p",
      hidden: run !== null,
      title: "Look every two seconds what is new (p)",
      onclick: () => this.togglePause(),
    });
    this.proxy = h("span", { class: "proxy" });
    place.replaceChildren(
      h(
        "a",
        { class: "brand", href: link({}), "aria-label": "trafficmock dashboard" },
        h("img", { src: "/favicon.svg", alt: "", width: 22, height: 22 }),
        h("span", {}, "trafficmock"),
      ),
      h("nav", { "aria-label": "Views" }, ...[...this.links.values()].map((entry) => entry.element)),
      h(
        "div",
        { class: "top-end" },
        this.proxy,
        this.pill,
        this.pauseButton,
        this.theme.element,
        h(
          "button",
          { type: "button", class: "quiet", "aria-keyshortcuts": "?", title: "Keys (?)", onclick: onhelp },
          "Help",
        ),
      ),
    );
    this.update();
  }

  togglePause() {
    this.paused = !this.paused;
    this.onpause(this.paused);
    this.update();
  }

  /** @param {string} name */
  mark(name) {
    for (const [other, { element }] of this.links) {
      if (other === name) element.setAttribute("aria-current", "page");
      else element.removeAttribute("aria-current");
    }
    document.title = `${TITLES[name]} · trafficmock`;
  }

  update() {
    const { status, health, requests, sockets, connections } = this.store;
    fill(this.pill, h("span", { class: "dot", "aria-hidden": "true" }), WORDS[status.kind]);
    this.pill.className = `pill pill-${status.kind}`;
    this.pauseButton.textContent = this.paused ? "Resume" : "Pause";
    this.proxy.textContent = run ? visible(run.har ?? `trafficmock ${run.version}`) : recordedBy(health);
    const counts = {
      tests: run?.tests.length ?? 0,
      http: requests.rows.length,
      ws: sockets.rows.length,
      connections: connections.nodeAgents.length + connections.runnerWorkers.length,
    };
    for (const [name, count] of Object.entries(counts)) {
      const place = this.links.get(name)?.count;
      if (place) place.textContent = count.toLocaleString("en");
    }
  }
}
