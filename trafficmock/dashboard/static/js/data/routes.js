// @ts-check
/** Routes as text: what they match, and where a test registers them. */

import { oneLine } from "../lib/text.js";

/** @typedef {import("../../../rest-records.js").Matcher} Matcher */

/** @param {Matcher} matcher @returns {string} */
export function matcherText(matcher) {
  const parts = [];
  if (matcher.urlGlob !== undefined) parts.push(matcher.urlGlob || "(any URL)");
  if (matcher.urlRegex) parts.push(`/${matcher.urlRegex.source}/${matcher.urlRegex.flags}`);
  if (matcher.predicate) parts.push("a predicate");
  if (matcher.methods?.length) parts.push(matcher.methods.join(", "));
  if (matcher.clientIds?.length) parts.push(`client ${matcher.clientIds.join(", ")}`);
  return oneLine(parts.join(" · ") || "any request");
}
