// @ts-check
/** Shows bodies as text, bytes or forms, in pieces, so that long bodies do not block the page. */

import { h } from "../lib/dom.js";
import { bytes as size } from "../lib/format.js";
import { visible } from "../lib/text.js";

const CHARACTERS = 64 * 1024;
const BYTES = 4096;
const PER_LINE = 16;

/**
 * Show the first piece of a content, with a button for the next one.
 *
 * @param {number} length of the whole content
 * @param {number} step length of a piece
 * @param {(from: number, to: number) => Node} piece makes a piece
 * @param {(left: number) => string} left makes the button's text from the length of the rest
 */
function inPieces(length, step, piece, left) {
  const place = h("div", { class: "pieces" });
  const add = (/** @type {number} */ from) => {
    const to = Math.min(length, from + step);
    place.append(piece(from, to));
    if (to >= length) return;
    const more = h(
      "button",
      {
        type: "button",
        class: "more",
        onclick: () => {
          more.remove();
          add(to);
        },
      },
      left(length - to),
    );
    place.append(more);
  };
  add(0);
  return place;
}

/** @param {string} text @returns {HTMLElement} */
export function textView(text) {
  return inPieces(
    text.length,
    CHARACTERS,
    (from, to) => h("pre", { class: "text", tabindex: 0, "aria-label": "Text" }, visible(text.slice(from, to))),
    (left) => `Show more: ${left.toLocaleString("en")} characters are left`,
  );
}

/** @param {Uint8Array} bytes @returns {HTMLElement} */
export function hexView(bytes) {
  return inPieces(
    bytes.length,
    BYTES,
    (from, to) => h("pre", { class: "hex", tabindex: 0, "aria-label": "Bytes" }, hexLines(bytes, from, to)),
    (left) => `Show more: ${size(left)} are left`,
  );
}

/** @param {Uint8Array} bytes @param {number} from @param {number} to */
function hexLines(bytes, from, to) {
  const lines = [];
  for (let at = from; at < to; at += PER_LINE) {
    const part = [...bytes.subarray(at, Math.min(to, at + PER_LINE))];
    const digits = part.map((byte) => byte.toString(16).padStart(2, "0"));
    const left = digits.slice(0, 8).join(" ").padEnd(23);
    const right = digits.slice(8).join(" ").padEnd(23);
    const signs = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${left}  ${right}  ${signs}`);
  }
  return lines.join("\n");
}

/** @param {string} text a urlencoded form or query @returns {HTMLElement} */
export function formView(text) {
  const pairs = [...new URLSearchParams(text)];
  return h(
    "table",
    { class: "pairs" },
    h(
      "tbody",
      {},
      ...pairs.map(([name, value]) =>
        h("tr", {}, h("th", { scope: "row" }, visible(name)), h("td", {}, visible(value))),
      ),
    ),
  );
}
