// @ts-check
/** The table of header lines, in their order and with repeats if these were recorded. */

import { h } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { cut, visible } from "../lib/text.js";
import { copyPart } from "../copy/written.js";

/** @typedef {import("../../../rest-records.js").HttpRequest} HttpRequest */
/** @typedef {import("../../../rest-records.js").HttpResponse} HttpResponse */
/** @typedef {import("../../../rest-records.js").Overrides} Overrides */

const LONGEST = 8000;

/** @param {HttpRequest | HttpResponse | Overrides} message @returns {[string, string][]} */
export function headerPairs(message) {
  return message.headersList ?? Object.entries(message.headers ?? {});
}

/**
 * @param {HttpRequest | HttpResponse} message
 * @param {string} what as in "Request headers"
 * @param {() => Promise<HttpRequest | HttpResponse>} toWrite returns the message as it may be copied
 */
export function headersView(message, what, toWrite) {
  const pairs = headerPairs(message);
  const all = async () =>
    headerPairs(await toWrite())
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n");
  return h(
    "section",
    { class: "headers" },
    h(
      "div",
      { class: "section-bar" },
      h("h3", {}, what),
      h("span", { class: "size" }, plural(pairs.length, "line")),
      pairs.length > 0 &&
        h(
          "button",
          { type: "button", class: "quiet", onclick: () => copyPart(all(), what.toLowerCase()) },
          "Copy headers",
        ),
    ),
    h(
      "table",
      { class: "pairs" },
      h(
        "tbody",
        {},
        ...pairs.map(([name, value], at) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, visible(cut(name, 300))),
            h(
              "td",
              {},
              visible(cut(value, LONGEST)),
              h(
                "button",
                {
                  type: "button",
                  class: "copy-one",
                  "aria-label": `Copy the value of ${visible(cut(name, 60))}`,
                  onclick: () => copyPart(valueOf(toWrite(), at), visible(name)),
                },
                "copy",
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {Promise<HttpRequest | HttpResponse>} message @param {number} at the place of the header line */
const valueOf = async (message, at) => headerPairs(await message)[at][1];
