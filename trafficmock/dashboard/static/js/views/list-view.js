// @ts-check
/** A list with its filters, and beside it the detail of the row in hand. */

import { accepts, readFilter, writeFilter } from "../data/filter.js";
import { ApiError, ask, entryPath } from "../data/api.js";
import { change, parameters } from "../lib/address.js";
import { fill, h } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { Grid } from "../grid/grid.js";
import { Splitter } from "./splitter.js";
import { DeepSearch } from "./deep-search.js";
import { FilterBar, NOTHING } from "./filters.js";

/** @typedef {import("../data/store.js").Store} Store @typedef {import("../data/rows.js").Row} Row */

export class ListView {
  /**
   * @param {object} options
   * @param {Store} options.store
   * @param {"requests" | "sockets"} options.what
   * @param {string} options.api `history` or `ws`
   * @param {string} options.key of the record in an answer
   * @param {string} options.label
   * @param {import("../grid/grid.js").Column[]} options.columns
   * @param {Record<string, {word: string, meaning: string}>} options.actions
   * @param {(close: () => void) => any} options.makeDetail has `element`, `show(record, row)` and `fail(text)`
   * @param {string} options.empty what to say when nothing was recorded
   */
  constructor({ store, what, api, key, label, columns, actions, makeDetail, empty }) {
    Object.assign(this, { store, what, api, key });
    this.store = store;
    this.what = what;
    this.api = api;
    this.key = key;
    this.empty = empty;
    this.open = "";
    this.tag = "";
    /** @type {Row | undefined} */
    this.shownRow = undefined;
    /** @type {AbortController | undefined} */
    this.asking = undefined;
    this.filter = readFilter(parameters());
    this.bar = new FilterBar({ label, actions, onchange: (changes) => this.refilter({ ...this.filter, q: this.bar.search.value, ...changes }) });
    this.grid = new Grid({ label, columns, onopen: (row) => this.choose(row, true), oncursor: (row) => this.open && this.choose(row, false), onunseen: (count) => this.unseen(count) });
    this.detail = makeDetail(() => this.close());
    this.deep = new DeepSearch(api, key === "entry" ? "entries" : "connections", () => this.update(true));
    this.newer = h("button", { type: "button", class: "newer", hidden: true, onclick: () => this.toTop() });
    this.hint = h("div", { class: "nothing" });
    this.left = h("div", { class: "list-pane" }, this.grid.element, this.hint, this.newer);
    this.gone = h("p", { class: "gone", role: "status" });
    this.right = h("section", { class: "detail-pane", "aria-label": "Detail", tabindex: -1, hidden: true }, this.gone, this.detail.element);
    this.splitter = new Splitter(this.right);
    this.element = h("div", { class: "list-view" }, h("h1", { class: "sr-only" }, label), this.bar.element, h("div", { class: "panes" }, this.left, this.splitter.element, this.right));
  }

  /** Take the state of the URL over: the view was opened, or Back was pressed. */
  enter() {
    this.filter = readFilter(parameters());
    this.bar.search.value = this.filter.q;
    const id = parameters().get("id") ?? "";
    this.update(true);
    if (id && id !== this.open) this.show(id);
    else if (!id && this.open) this.hide();
  }

  /** @param {import("../data/filter.js").Filter} filter */
  refilter(filter) {
    this.filter = filter;
    change(writeFilter(filter));
    this.bar.search.value = filter.q;
    this.update(true);
  }

  clearFilters() {
    this.refilter({ ...NOTHING });
  }

  /** @param {string} what has changed */
  heard(what) {
    if (what === this.what || (what === "tick" && this.filter.last) || what === "connections" || (what === "status" && !this.hint.hidden)) this.update();
  }

  /** @param {boolean} [fresh] whether the filter is another one */
  update(fresh = false) {
    const { rows, tag } = this.store[/** @type {"requests"} */ (this.what)];
    const found = this.deep.find(this.filter, tag);
    const now = Date.now();
    const counted = rows.filter(accepts(this.filter, { now, found, actions: false }));
    const shown = this.filter.actions.length ? counted.filter((row) => this.filter.actions.includes(row.action)) : counted;
    this.bar.show(this.filter, rows, counted, shown.length, this.store.connections.nodeAgents);
    this.grid.setRows(shown, { fresh });
    this.hint.hidden = shown.length > 0;
    if (!shown.length) this.explain(rows.length);
    const row = this.open ? this.collection.byId.get(this.open) : undefined;
    if (row && row !== this.shownRow) this.fetch(row.id);
    this.sayGone(this.shownRow !== undefined && !row);
  }

  /** Say that what is shown is only the page's memory: the history is full, or the proxy is another. @param {boolean} gone */
  sayGone(gone) {
    const text = gone ? "The proxy does not have this entry any more. The page shows what it remembers." : "";
    if (this.gone.textContent !== text) this.gone.textContent = text;
  }

  get collection() {
    return this.store[/** @type {"requests"} */ (this.what)];
  }

  /** @param {number} count */
  explain(count) {
    if (count) {
      fill(this.hint, h("p", {}, "Nothing fits the filters."), h("button", { type: "button", onclick: () => this.clearFilters() }, "Clear filters"));
    } else if (this.store.status.kind === "connecting") fill(this.hint, h("p", {}, "Asking the proxy…"));
    else fill(this.hint, h("p", {}, this.store.health?.historyCapture === "none" ? "The proxy records nothing: it was started with --history-capture none." : this.empty));
  }

  /** @param {Row} row @param {boolean} push */
  choose(row, push) {
    change({ id: row.id }, { push: push && !this.open });
    this.show(row.id);
  }

  /** @param {string} id */
  show(id) {
    this.open = id;
    this.tag = "";
    this.right.hidden = false;
    this.splitter.show(true);
    this.element.classList.add("with-detail");
    this.grid.take(id);
    this.fetch(id);
  }

  /** @param {string} id */
  async fetch(id) {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    const row = this.collection.byId.get(id);
    this.shownRow = row;
    this.sayGone(false);
    try {
      const answer = await ask(entryPath(this.api, id), { tag: this.tag, signal: asking.signal });
      if (asking !== this.asking || id !== this.open || !answer) return;
      this.tag = answer.tag;
      this.detail.show(answer.body[this.key], row);
    } catch (error) {
      if (asking.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "not_found") {
        this.shownRow = undefined;
        this.sayGone(false);
      }
      this.detail.fail(error.code === "not_found" ? "The proxy does not have this entry any more." : error.message);
    }
  }

  /** Close the detail; the list has the focus again. */
  close() {
    if (!this.open) return;
    change({ id: null });
    this.hide();
    this.grid.element.focus();
  }

  hide() {
    this.open = "";
    this.shownRow = undefined;
    this.right.hidden = true;
    this.splitter.show(false);
    this.element.classList.remove("with-detail");
    this.grid.draw();
  }

  toTop() {
    this.grid.take("");
    this.grid.toTop();
    this.grid.element.focus();
  }

  /** @param {number} count */
  unseen(count) {
    this.newer.hidden = count === 0;
    this.newer.textContent = `↑ ${plural(count, "new", "new")}`;
  }
}
