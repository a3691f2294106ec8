// @ts-check
/** The bar between list and detail, which is moved with the mouse or arrow keys. */

import { h } from "../lib/dom.js";
import { remember, remembered } from "../lib/settings.js";

const LEAST = 25;
const MOST = 75;
const STEP = 3;

export class Splitter {
  /** @param {HTMLElement} pane the detail, to the right of the bar */
  constructor(pane) {
    this.pane = pane;
    this.element = h("div", {
      role: "separator",
      class: "splitter",
      tabindex: 0,
      hidden: true,
      "aria-orientation": "vertical",
      "aria-label": "Width of the detail",
      "aria-valuemin": LEAST,
      "aria-valuemax": MOST,
      onpointerdown: (/** @type {PointerEvent} */ event) => this.grab(event),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
    this.set(Number(remembered("detail-width")) || 46);
  }

  /** @param {boolean} shown */
  show(shown) {
    this.element.hidden = !shown;
  }

  /** @param {number} percent width of the detail */
  set(percent) {
    this.percent = Math.min(MOST, Math.max(LEAST, percent));
    this.pane.style.setProperty("--detail-width", `${this.percent}%`);
    this.element.setAttribute("aria-valuenow", String(Math.round(this.percent)));
    remember("detail-width", String(this.percent));
  }

  /** @param {PointerEvent} event */
  grab(event) {
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ moved) => {
      const { right, width } = /** @type {HTMLElement} */ (this.element.parentElement).getBoundingClientRect();
      this.set(((right - moved.clientX) / width) * 100);
    };
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("lostpointercapture", () => this.element.removeEventListener("pointermove", move), {
      once: true,
    });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    if (!by) return;
    event.preventDefault();
    this.set((this.percent ?? 46) + by);
  }
}
