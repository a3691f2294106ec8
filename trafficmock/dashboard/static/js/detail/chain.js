// @ts-check
/** The redirect chain of a request, with links to its hops. */

import { h } from "../lib/dom.js";
import { link } from "../lib/address.js";
import { cut, visible } from "../lib/text.js";

/** @typedef {import("../data/rows.js").Row} Row */

const MOST_HOPS = 50;

/**
 * @param {Row} row
 * @param {Map<string, Row>} byId
 * @returns {Row[]} the hops in order, as far as the page has them
 */
export function hops(row, byId) {
  const chain = [row];
  const seen = new Set([row.id]);
  const follow = (/** @type {"fromId" | "toId"} */ way, /** @type {(hop: Row) => void} */ add) => {
    let next = byId.get(row[way]);
    while (next && !seen.has(next.id) && chain.length < MOST_HOPS) {
      seen.add(next.id);
      add(next);
      next = byId.get(next[way]);
    }
  };
  follow("fromId", (hop) => chain.unshift(hop));
  follow("toId", (hop) => chain.push(hop));
  return chain;
}

/** @param {Row[]} chain @param {string} id of the open entry @param {(id: string) => void} walk opens a hop */
export function chainTab(chain, id, walk) {
  return [
    h(
      "ol",
      { class: "chain" },
      ...chain.map((hop) =>
        h(
          "li",
          {},
          h(
            "a",
            {
              href: link({ view: "http", id: hop.id }),
              class: "hop",
              "aria-current": hop.id === id ? "step" : null,
              onclick: (/** @type {MouseEvent} */ event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                walk(hop.id);
              },
            },
            h(
              "span",
              { class: `hop-status status-${Math.floor((hop.status ?? 0) / 100)}` },
              hop.status === undefined ? "…" : String(hop.status),
            ),
            h("span", { class: "hop-method" }, visible(hop.method)),
            h("bdi", { class: "hop-url" }, visible(cut(hop.url, 1000))),
          ),
        ),
      ),
    ),
  ];
}
