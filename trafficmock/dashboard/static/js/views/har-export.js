// @ts-check
/** The button that saves the whole list as one HAR file, with its progress. */

import { ApiError } from "../data/api.js";
import { collectHar } from "../data/har.js";
import { h } from "../lib/dom.js";
import { saveBlob } from "../lib/download.js";
import { plural } from "../lib/format.js";

/** @typedef {import("../data/har.js").Har} Har @typedef {import("../data/rows.js").Row} Row */

export class HarExport {
  /** @param {() => Row[]} rows returns the rows of the list, newest first */
  constructor(rows) {
    this.rows = rows;
    /** @type {AbortController | undefined} */
    this.running = undefined;
    this.button = h(
      "button",
      {
        type: "button",
        class: "quiet",
        title: "What the list shows, as one file: for routeFromHAR, or a HAR viewer",
        onclick: () => (this.running ? this.running.abort() : this.start()),
      },
      "Save as HAR",
    );
    this.progress = h("progress", { "aria-label": "Requests collected", hidden: true });
    this.note = h("span", { class: "note", role: "status" });
    this.element = h("span", { class: "list-deeds" }, this.note, this.progress, this.button);
  }

  async start() {
    const running = new AbortController();
    this.running = running;
    this.note.textContent = "";
    this.button.textContent = "Cancel";
    try {
      const { signal } = running;
      const har = await collectHar(this.rows(), { signal, onprogress: (done, all) => this.show(done, all) });
      if (har.entries) saveBlob(har.file, fileName(new Date()));
      this.note.textContent = report(har);
    } catch (error) {
      if (!running.signal.aborted && !(error instanceof ApiError)) throw error;
      this.note.textContent = running.signal.aborted ? "Cancelled; nothing was saved." : sorry(error);
    } finally {
      this.running = undefined;
      this.progress.hidden = true;
      this.button.textContent = "Save as HAR";
    }
  }

  /** @param {number} done @param {number} all */
  show(done, all) {
    this.progress.hidden = false;
    this.progress.max = all;
    this.progress.value = done;
    this.progress.title = `${done.toLocaleString("en")} of ${all.toLocaleString("en")}`;
  }

  /** Remove the report, because the list has changed. */
  forget() {
    this.note.textContent = "";
  }
}

/** @param {unknown} error */
const sorry = (error) => `Nothing was saved: ${/** @type {Error} */ (error).message}`;

/** @param {Date} now @returns {string} like trafficmock-2026-11-22T14-03-09Z.har */
function fileName(now) {
  return `trafficmock-${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z.har`;
}

/** @param {Har} har @returns {string} the numbers of saved and missing requests, as text */
function report({ entries, without, gone, beyond }) {
  const left = [
    without && `${without.toLocaleString("en")} without a response`,
    gone && `${gone.toLocaleString("en")} that the proxy does not have any more`,
    beyond && `${beyond.toLocaleString("en")} beyond the limit of a file`,
  ]
    .filter(Boolean)
    .join(", ");
  const saved = entries ? `Saved ${plural(entries, "entry", "entries")}` : "Nothing to save";
  return left ? `${saved}; left out: ${left}.` : `${saved}.`;
}
