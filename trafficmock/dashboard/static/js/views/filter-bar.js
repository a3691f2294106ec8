// @ts-check
/** The bar of filters above a list. */

import { isEmpty, OWNERSHIPS } from "../data/filter.js";
import { h } from "../lib/dom.js";
import { actionClass } from "../data/actions.js";
import { cut, oneLine } from "../lib/text.js";
import { clientChoices, testChoices } from "./choices.js";
import { TimeRange } from "./time-range.js";

/** @typedef {import("../data/filter.js").Filter} Filter @typedef {import("../data/rows.js").Row} Row */

const TYPING_MS = 120;

export class FilterBar {
  /**
   * @param {object} options
   * @param {string} options.label
   * @param {Record<string, {word: string, meaning: string}>} options.actions
   * @param {(changes: Partial<Filter>) => void} options.onchange
   */
  constructor({ label, actions, onchange }) {
    this.onchange = onchange;
    /** @type {number | undefined} */
    this.typing = undefined;
    this.search = h("input", {
      type: "search",
      class: "search",
      placeholder: "Filter by URL, status, test, error…",
      "aria-label": `Filter ${label} by text`,
      "aria-keyshortcuts": "/",
      spellcheck: "false",
      autocomplete: "off",
      oninput: () => {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => onchange({ q: this.search.value }), TYPING_MS);
      },
    });
    this.deep = h("input", { type: "checkbox", onchange: () => onchange({ deep: this.deep.checked }) });
    this.failed = h("input", { type: "checkbox", onchange: () => onchange({ failed: this.failed.checked }) });
    /** @type {Map<string, {button: HTMLButtonElement, count: HTMLElement}>} */
    this.chips = new Map(
      Object.entries(actions).map(([name, { word, meaning }]) => {
        const count = h("span", { class: "count" }, "0");
        const button = h(
          "button",
          {
            type: "button",
            class: `chip ${actionClass(name)}`,
            "aria-pressed": "false",
            title: meaning,
            onclick: () => this.toggle(name),
          },
          word,
          " ",
          count,
        );
        return [name, { button, count }];
      }),
    );
    this.client = this.select("Client", "client");
    this.test = this.select("Test", "test");
    this.owner = this.select("Owner", "owner");
    const ownerships = Object.entries(OWNERSHIPS);
    this.options(this.owner, "", new Map(ownerships.map(([name, { title }]) => [name, title])));
    this.time = new TimeRange(onchange);
    this.result = h("output", { class: "result", "aria-live": "off" });
    this.clear = h(
      "button",
      { type: "button", class: "quiet", onclick: () => onchange(NOTHING), title: "Show everything (x)" },
      "Clear filters",
    );
    this.fold = h(
      "button",
      { type: "button", class: "fold", "aria-expanded": "false", onclick: () => this.unfold() },
      "Filters",
    );
    this.deeds = h("div", { class: "list-deeds" });
    this.hostNote = h("span", { class: "host-note" });
    this.element = h(
      "search",
      { class: "filters", "aria-label": `Filters of ${label}` },
      h(
        "div",
        { class: "filter-line" },
        this.search,
        this.fold,
        h("label", { class: "check", title: "Searched by the proxy" }, this.deep, "headers and bodies too"),
        h("label", { class: "check" }, this.failed, "only failures"),
        this.client.label,
        this.test.label,
        this.owner.label,
      ),
      h(
        "div",
        { class: "filter-line" },
        h(
          "div",
          { class: "chips", role: "group", "aria-label": "Actions" },
          ...[...this.chips.values()].map((chip) => chip.button),
        ),
        this.time.element,
        this.hostNote,
        this.clear,
        h("div", { class: "list-end" }, this.deeds, this.result),
      ),
    );
    /** @type {Filter} */
    this.filter = /** @type {Filter} */ ({ ...NOTHING });
  }

  /** Add buttons for actions on the list, beside the count. @param {HTMLElement[]} buttons */
  add(...buttons) {
    this.deeds.append(...buttons);
  }

  /** @param {string} title @param {"client" | "test" | "owner"} name */
  select(title, name) {
    const element = h("select", { onchange: () => this.onchange({ [name]: element.value }) });
    const label = h("label", { class: "pick" }, h("span", {}, title), element);
    return { element, label, shown: "" };
  }

  /** Show or hide the filters but the search; where there is room they are always shown. */
  unfold() {
    const shown = this.element.classList.toggle("unfolded");
    this.fold.setAttribute("aria-expanded", String(shown));
  }

  /** @param {string} name */
  toggle(name) {
    const { actions } = this.filter;
    this.onchange({ actions: actions.includes(name) ? actions.filter((other) => other !== name) : [...actions, name] });
  }

  /**
   * Show the filter and its choices.
   *
   * @param {Filter} filter
   * @param {Row[]} rows all rows
   * @param {Row[]} counted the rows that the filter accepts, its actions ignored
   * @param {number} shown number of the rows that the filter accepts
   * @param {import("../data/clients.js").Client[]} agents the connected ones
   */
  show(filter, rows, counted, shown, agents) {
    this.filter = filter;
    if (this.search.value !== filter.q && document.activeElement !== this.search) this.search.value = filter.q;
    this.deep.checked = filter.deep;
    this.failed.checked = filter.failed;
    /** @type {Record<string, number>} */
    const counts = {};
    for (const row of counted) counts[row.action] = (counts[row.action] ?? 0) + 1;
    for (const [name, { button, count }] of this.chips) {
      button.setAttribute("aria-pressed", String(filter.actions.includes(name)));
      count.textContent = (counts[name] ?? 0).toLocaleString("en");
    }
    this.options(this.client, filter.client, clientChoices(rows, agents));
    this.options(this.test, filter.test, testChoices(rows));
    this.owner.element.value = filter.owner;
    this.time.show(filter);
    this.hostNote.textContent = filter.host ? `host ${oneLine(filter.host)}` : "";
    this.clear.hidden = isEmpty(filter);
    const all = rows.length.toLocaleString("en");
    this.result.textContent = shown === rows.length ? `${all} shown` : `${shown.toLocaleString("en")} of ${all}`;
  }

  /**
   * @param {{element: HTMLSelectElement, shown: string}} select
   * @param {string} value
   * @param {Map<string, string>} choices
   */
  options(select, value, choices) {
    if (value && !choices.has(value)) choices.set(value, value);
    const names = [...choices].sort((one, other) => one[1].localeCompare(other[1]));
    const key = JSON.stringify(names);
    if (key !== select.shown) {
      select.shown = key;
      select.element.replaceChildren(
        h("option", { value: "" }, "All"),
        ...names.map(([id, text]) => h("option", { value: id }, cut(oneLine(text), 60))),
      );
    }
    select.element.value = value;
  }
}

/** @type {Filter} */
export const NOTHING = {
  q: "",
  actions: [],
  client: "",
  test: "",
  owner: "",
  host: "",
  failed: false,
  last: 0,
  from: 0,
  to: 0,
  deep: false,
};
