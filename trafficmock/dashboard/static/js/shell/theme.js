// @ts-check
/** The button for the theme: light, dark, or that of the system. */

import { h } from "../lib/dom.js";
import { remember } from "../lib/settings.js";
import { say } from "../lib/say.js";

const ORDER = ["system", "light", "dark"];

function current() {
  return document.documentElement.dataset.theme ?? "system";
}

/** @param {string} theme */
function set(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  remember("theme", theme === "system" ? null : theme);
}

/** @returns {{element: HTMLElement, next: () => void}} */
export function themeButton() {
  const element = h("button", {
    type: "button",
    class: "quiet theme",
    "aria-keyshortcuts": "t",
    onclick: () => next(),
  });
  const label = () => {
    const signs = /** @type {Record<string, string>} */ ({ system: "◐", light: "☀", dark: "☾" });
    element.replaceChildren(h("span", { "aria-hidden": "true", class: "sign" }, signs[current()]), ` ${current()}`);
    element.setAttribute("aria-label", `Theme: ${current()}`);
    element.title = "Light, dark, or as the system has it (t)";
  };
  const next = () => {
    set(ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length]);
    label();
    say(`Theme: ${current()}`);
  };
  label();
  return { element, next };
}
