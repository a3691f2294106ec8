// @ts-check
/** The header of the page: links to the views, and the state of the proxy. */

import { fill, h } from "../lib/dom.js";
import { link } from "../lib/address.js";
import { themeButton } from "./theme.js";

/** @typedef {import("../data/store.js").Store} Store */

const TITLES = /** @type {const} */ ([
  ["overview", "Overview"],
  ["http", "HTTP"],
  ["ws", "WebSocket"],
  ["connections", "Connections"],
]);

/** @type {Record<string, string>} */
const WORDS = { connecting: "connecting…", live: "live", paused: "paused", away: "proxy away" };

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
      TITLES.map(([name, title]) => {
        const count = h("span", { class: "count" });
        const element = h("a", { href: link({ view: name }) }, title, " ", count);
        return [name, { element, count }];
      }),
    );
    this.theme = themeButton();
    this.pill = h("span", { class: "pill" });
    this.pauseButton = h("button", {
      type: "button",
      class: "quiet",
      "aria-keyshortcuts": "p",
      title: "Look every two seconds what is new (p)",
      onclick: () => this.togglePause(),
    });
    this.proxy = h("span", { class: "proxy" });
    place.replaceChildren(
      h(
        "a",
        { class: "brand", href: "/", "aria-label": "trafficmock dashboard" },
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
    document.title = `${TITLES.find(([view]) => view === name)?.[1]} · trafficmock`;
  }

  update() {
    const { status, health, requests, sockets, connections } = this.store;
    fill(this.pill, h("span", { class: "dot", "aria-hidden": "true" }), WORDS[status.kind]);
    this.pill.className = `pill pill-${status.kind}`;
    this.pauseButton.textContent = this.paused ? "Resume" : "Pause";
    this.proxy.textContent = health
      ? `proxy ${health.version}${health.historyCapture === "all" ? "" : ` · records: ${health.historyCapture}`}`
      : "";
    const counts = {
      http: requests.rows.length,
      ws: sockets.rows.length,
      connections: connections.nodeAgents.length + connections.runnerWorkers.length,
    };
    for (const [name, count] of Object.entries(counts)) {
      const place = this.links.get(/** @type {"http"} */ (name))?.count;
      if (place) place.textContent = count.toLocaleString("en");
    }
  }
}
