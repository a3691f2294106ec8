// @ts-check
/** The filter by time: the last minutes, or between two times. */

import { h } from "../lib/dom.js";

/** @typedef {import("../data/filter.js").Filter} Filter */

const CHOICES = [
  ["", "All"],
  ["60", "Last minute"],
  ["300", "Last 5 minutes"],
  ["900", "Last 15 minutes"],
  ["3600", "Last hour"],
  ["between", "Between…"],
];

/** @param {number} at epoch ms @returns {string} the value of an input `datetime-local` */
function local(at) {
  if (!at) return "";
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

export class TimeRange {
  /** @param {(changes: Partial<Filter>) => void} onchange */
  constructor(onchange) {
    this.choice = h(
      "select",
      { onchange: () => this.chosen(onchange) },
      ...CHOICES.map(([value, text]) => h("option", { value }, text)),
    );
    const moment = (/** @type {string} */ label, /** @type {"from" | "to"} */ name) => {
      const input = h("input", {
        type: "datetime-local",
        step: 1,
        "aria-label": label,
        onchange: () =>
          onchange({ last: 0, [name]: input.value ? Date.parse(input.value) + (name === "to" ? 999 : 0) : 0 }),
      });
      return input;
    };
    this.from = moment("From", "from");
    this.to = moment("To", "to");
    this.between = h("span", { class: "between", hidden: true }, this.from, " – ", this.to);
    this.open = false;
    this.dated = false;
    this.element = h(
      "span",
      { class: "times" },
      h("label", { class: "pick" }, h("span", {}, "Time"), this.choice),
      this.between,
    );
  }

  /** @param {(changes: Partial<Filter>) => void} onchange */
  chosen(onchange) {
    this.open = this.choice.value === "between";
    const last = this.open ? 0 : Number(this.choice.value);
    onchange(this.open ? { last } : { last, from: 0, to: 0 });
  }

  /**
   * Show the filter. The fields close when another control, or the address, takes both times away; they stay for
   * somebody who is about to fill them.
   *
   * @param {Filter} filter
   */
  show(filter) {
    const dated = Boolean(filter.from || filter.to);
    const emptied = this.dated && !dated && !this.between.contains(document.activeElement);
    this.open = (this.open || dated) && !emptied && !filter.last;
    this.dated = dated;
    this.choice.value = this.open ? "between" : filter.last ? String(filter.last) : "";
    this.between.hidden = !this.open;
    if (document.activeElement !== this.from) this.from.value = local(filter.from);
    if (document.activeElement !== this.to) this.to.value = local(filter.to);
  }
}
