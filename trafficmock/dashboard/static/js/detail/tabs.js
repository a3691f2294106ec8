// @ts-check
/** Tabs by the pattern of the WAI-ARIA Authoring Practices. */

import { fill, h } from "../lib/dom.js";

export class Tabs {
  /** @param {string} label @param {(name: string) => void} onchange */
  constructor(label, onchange) {
    this.onchange = onchange;
    this.list = h("div", {
      role: "tablist",
      class: "tabs",
      "aria-label": label,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    });
    this.panel = h("div", {
      role: "tabpanel",
      class: "tabpanel",
      tabindex: 0,
      id: `panel-${Math.random().toString(36).slice(2, 8)}`,
    });
    /** @type {string[]} */
    this.names = [];
    this.current = "";
    /** What the panel shows, if its tab says. @type {string | undefined} */
    this.shown = undefined;
  }

  /**
   * Show tabs. The open tab stays open if it is among them. Its panel stays as it is, with what was unfolded in it, if
   * it shows the same (`of`) as before.
   *
   * @param {{name: string, title: string, of?: string, show: () => import("../lib/dom.js").Child[]}[]} tabs
   * @param {string} [wanted]
   */
  show(tabs, wanted = this.current) {
    this.names = tabs.map((tab) => tab.name);
    const name = this.names.includes(wanted) ? wanted : this.names[0];
    const focused = this.list.contains(document.activeElement);
    this.list.replaceChildren(
      ...tabs.map((tab) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: `${this.panel.id}-${tab.name}`,
            "aria-controls": this.panel.id,
            "aria-selected": String(tab.name === name),
            tabindex: tab.name === name ? 0 : -1,
            onclick: () => this.choose(tab.name),
          },
          tab.title,
        ),
      ),
    );
    const scrolled = this.current === name ? this.panel.scrollTop : 0;
    this.current = name;
    this.tabs = tabs;
    this.panel.setAttribute("aria-labelledby", `${this.panel.id}-${name}`);
    const tab = tabs.find((one) => one.name === name);
    const shown = tab?.of && `${name} ${tab.of}`;
    if (!shown || shown !== this.shown) fill(this.panel, ...(tab?.show() ?? []));
    this.shown = shown;
    this.panel.scrollTop = scrolled;
    if (focused) this.focus();
  }

  /** Show no tab, but something else. @param {import("../lib/dom.js").Child} content */
  showOnly(content) {
    this.list.replaceChildren();
    this.panel.removeAttribute("aria-labelledby");
    this.shown = undefined;
    fill(this.panel, content);
  }

  /** @param {string} name */
  choose(name) {
    this.show(this.tabs ?? [], name);
    this.focus();
    this.onchange(name);
  }

  /** @param {number} by */
  step(by) {
    const at = this.names.indexOf(this.current) + by;
    this.choose(this.names[(at + this.names.length) % this.names.length]);
  }

  focus() {
    /** @type {HTMLElement | null} */ (this.list.querySelector("[aria-selected=true]"))?.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, number>} */
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    if (event.key in steps) this.step(steps[event.key]);
    else if (event.key === "Home") this.choose(this.names[0]);
    else if (event.key === "End") this.choose(this.names[this.names.length - 1]);
    else return;
    event.preventDefault();
  }
}
