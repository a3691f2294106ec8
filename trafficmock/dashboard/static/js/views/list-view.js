// @ts-check
/** A page with a list, its filters, and the detail of the open entry. */

import { accepts, readFilter, writeFilter } from "../data/filter.js";
import { Grid } from "../grid/grid.js";
import { Layout } from "../grid/layout.js";
import { ordered } from "../grid/order.js";
import { run } from "../data/saved.js";
import { change, parameters } from "../lib/address.js";
import { fill, h } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { DeepSearch } from "./deep-search.js";
import { DetailPane } from "./detail-pane.js";
import { FilterBar, NOTHING } from "./filter-bar.js";
import { HarExport } from "./har-export.js";

/** @typedef {import("../data/store.js").Store} Store @typedef {import("../data/rows.js").Row} Row */

export class ListView {
  /**
   * @param {object} options
   * @param {Store} options.store
   * @param {"requests" | "sockets"} options.what
   * @param {string} options.api `history` or `ws`
   * @param {string} options.key name of the record in a response
   * @param {string} options.label
   * @param {import("../grid/grid.js").Column[]} options.columns
   * @param {Record<string, {word: string, meaning: string}>} options.actions
   * @param {(close: () => void) => any} options.makeDetail has `element`, `show(record, row)` and `fail(text)`
   * @param {string} options.empty the text if nothing was recorded
   */
  constructor({ store, what, api, key, label, columns, actions, makeDetail, empty }) {
    this.store = store;
    this.what = what;
    this.columns = columns;
    this.empty = empty;
    /** The rows that the filter accepts, newest first. @type {Row[]} */
    this.shown = [];
    this.filter = readFilter(parameters());
    this.bar = new FilterBar({
      label,
      actions,
      onchange: (changes) => this.refilter({ ...this.filter, q: this.bar.search.value, ...changes }),
    });
    this.layout = new Layout({ name: what, columns, onchange: () => this.arranged() });
    this.sort = this.layout.sort;
    this.grid = new Grid({
      label,
      layout: this.layout,
      onopen: (row) => this.choose(row, true),
      oncursor: (row) => this.open && this.choose(row, false),
      onunseen: (count) => this.unseen(count),
    });
    this.detail = makeDetail(() => this.close());
    this.pane = new DetailPane({ api, key, detail: this.detail, find: (id) => this.collection.byId.get(id) });
    this.deep = new DeepSearch(api, key === "entry" ? "entries" : "connections", () => this.update(true));
    this.newer = h("button", { type: "button", class: "newer", hidden: true, onclick: () => this.toTop() });
    this.hint = h("div", { class: "nothing" });
    this.resetColumns = h(
      "button",
      {
        type: "button",
        class: "quiet reset-columns",
        hidden: this.layout.isDefault,
        title: "Widths and order as they were at first",
        onclick: () => this.layout.reset(),
      },
      "Reset columns",
    );
    const clear = h(
      "button",
      {
        type: "button",
        class: "quiet",
        title: "Take what is shown off this page; the proxy keeps it",
        onclick: () => this.clear(),
      },
      "Clear the list",
    );
    this.har = api === "history" && !run ? new HarExport(() => this.shown) : undefined;
    this.bar.add(this.newer, ...(this.har ? [this.har.element] : []), clear, this.resetColumns);
    this.element = h(
      "div",
      { class: "list-view" },
      h("h1", { class: "sr-only" }, label),
      this.bar.element,
      h(
        "div",
        { class: "panes" },
        h("div", { class: "list-pane" }, this.grid.element, this.hint),
        this.pane.splitter.element,
        this.pane.element,
      ),
    );
  }

  /** The id of the open entry, or empty. */
  get open() {
    return this.pane.open;
  }

  get collection() {
    return this.store[this.what];
  }

  /** Apply the state in the URL, because the view was opened or Back was pressed. */
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

  /** Clear the shown rows from the page. */
  clear() {
    this.close();
    this.store.clear(this.what, this.shown);
  }

  clearFilters() {
    this.refilter({ ...NOTHING });
  }

  /** Apply a change of column widths or of the sort order. */
  arranged() {
    this.resetColumns.hidden = this.layout.isDefault;
    this.grid.fit();
    if (this.sort === this.layout.sort) return;
    this.sort = this.layout.sort;
    this.update(true);
  }

  /** @param {import("../data/store.js").Change} what has changed */
  heard(what) {
    if (
      what === this.what ||
      what === "connections" ||
      (what === "tick" && this.filter.last) ||
      (what === "status" && !this.hint.hidden)
    ) {
      this.update();
    }
  }

  /** @param {boolean} [fresh] whether the filter or the sort order has changed */
  update(fresh = false) {
    const { rows, tag } = this.collection;
    const found = this.deep.find(this.filter, tag);
    const counted = rows.filter(accepts(this.filter, { found, actions: false }));
    const { actions } = this.filter;
    this.shown = actions.length ? counted.filter((row) => actions.includes(row.action)) : counted;
    if (fresh) this.har?.forget();
    this.bar.show(this.filter, rows, counted, this.shown.length, this.store.connections.nodeAgents);
    this.grid.setRows(ordered(this.shown, this.sort, this.columns), { fresh });
    this.hint.hidden = this.shown.length > 0;
    if (!this.shown.length) this.explain(rows.length);
    this.pane.update();
  }

  /** @param {number} count of all rows, before the filter */
  explain(count) {
    if (count) {
      fill(
        this.hint,
        h("p", {}, "Nothing fits the filters."),
        h("button", { type: "button", onclick: () => this.clearFilters() }, "Clear filters"),
      );
    } else fill(this.hint, h("p", {}, this.whyEmpty()));
  }

  whyEmpty() {
    if (this.store.status.kind === "connecting") return "Asking the proxy…";
    if (this.collection.cleared.size) return "The list was cleared. What comes from now on is listed here.";
    const off = this.store.health?.historyCapture === "none";
    return off ? "The proxy records nothing: it was started with --history-capture none." : this.empty;
  }

  /** @param {Row} row @param {boolean} push */
  choose(row, push) {
    change({ id: row.id }, { push: push && !this.open });
    this.show(row.id);
  }

  /** @param {string} id */
  show(id) {
    this.element.classList.add("with-detail");
    this.pane.show(id);
    this.grid.take(id);
  }

  /** Close the detail, and focus the list. */
  close() {
    if (!this.open) return;
    change({ id: null });
    this.hide();
    this.grid.element.focus();
  }

  hide() {
    this.pane.hide();
    this.element.classList.remove("with-detail");
    this.grid.draw();
  }

  toTop() {
    this.grid.take("");
    this.grid.toTop();
    this.grid.element.focus();
  }

  /** Scroll to the newest row, and follow new ones. */
  toNewest() {
    this.layout.newestFirst();
    this.toTop();
  }

  /** @param {number} count */
  unseen(count) {
    this.newer.hidden = count === 0;
    this.newer.textContent = `↑ ${plural(count, "new", "new")}`;
  }
}
