// @ts-check
/** The pane beside a list, with the detail of the open entry. */

import { ApiError, ask, entryPath } from "../data/api.js";
import { h } from "../lib/dom.js";
import { Splitter } from "./splitter.js";

/** @typedef {import("../data/rows.js").Row} Row */

const GONE = "The proxy does not have this entry any more.";

export class DetailPane {
  /**
   * @param {object} options
   * @param {string} options.api `history` or `ws`
   * @param {string} options.key name of the record in a response
   * @param {any} options.detail has `element`, `show(record, row)` and `fail(text)`
   * @param {(id: string) => Row | undefined} options.find returns the row of an id
   */
  constructor({ api, key, detail, find }) {
    this.api = api;
    this.key = key;
    this.detail = detail;
    this.find = find;
    /** The id of the open entry, or empty. */
    this.open = "";
    this.tag = "";
    /** @type {Row | undefined} */
    this.shownRow = undefined;
    /** @type {AbortController | undefined} */
    this.asking = undefined;
    this.gone = h("p", { class: "gone", role: "status" });
    this.element = h(
      "section",
      { class: "detail-pane", "aria-label": "Detail", tabindex: -1, hidden: true },
      this.gone,
      detail.element,
    );
    this.splitter = new Splitter(this.element);
  }

  /** @param {string} id */
  show(id) {
    this.open = id;
    this.tag = "";
    this.element.hidden = false;
    this.splitter.show(true);
    this.fetch(id);
  }

  hide() {
    this.open = "";
    this.shownRow = undefined;
    this.element.hidden = true;
    this.splitter.show(false);
  }

  /** Fetch the open entry again if it has changed; show a note if the proxy has dropped it. */
  update() {
    const row = this.open ? this.find(this.open) : undefined;
    if (row && row !== this.shownRow) this.fetch(row.id);
    this.sayGone(this.shownRow !== undefined && !row);
  }

  /** @param {boolean} gone whether the entry was evicted, or the proxy was restarted */
  sayGone(gone) {
    const text = gone ? `${GONE} The page shows what it remembers.` : "";
    if (this.gone.textContent !== text) this.gone.textContent = text;
  }

  /** @param {string} id */
  async fetch(id) {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    const row = this.find(id);
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
      this.failed(error);
    }
  }

  /** @param {ApiError} error */
  failed(error) {
    if (error.code === "not_found") {
      this.shownRow = undefined;
      this.sayGone(false);
    }
    this.detail.fail(error.code === "not_found" ? GONE : error.message);
  }
}
