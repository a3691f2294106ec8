// @ts-check
/** The tabs of a request and its response: first line, headers and body. */

import { bodyView } from "../bodies/view.js";
import { upstreamError } from "../data/upstream.js";
import { formView } from "../bodies/plain.js";
import { h } from "../lib/dom.js";
import { urlParts } from "../lib/format.js";
import { visible } from "../lib/text.js";
import { copyPart, written } from "../copy/written.js";
import { headersView } from "./headers.js";

/** @typedef {import("../../../rest-records.js").HttpEntry} HttpEntry */

/** @param {HttpEntry} entry */
export function requestTab(entry) {
  const { request } = entry;
  const toWrite = async () => (await written("history", entry)).request;
  const url = async () => (await toWrite()).url;
  const { query } = urlParts(request.url);
  const asked = query.startsWith("?") ? query.slice(1).replace(/#.*$/s, "") : "";
  return [
    h(
      "p",
      { class: "first-line" },
      h("strong", {}, visible(request.method)),
      " ",
      h("bdi", {}, visible(request.url)),
      " ",
      h(
        "button",
        { type: "button", class: "copy-one", "aria-label": "Copy the URL", onclick: () => copyPart(url(), "URL") },
        "copy",
      ),
    ),
    asked && h("section", {}, h("div", { class: "section-bar" }, h("h3", {}, "Query")), formView(asked)),
    headersView(request, "Request headers", toWrite),
    h("div", { class: "section-bar" }, h("h3", {}, "Request body")),
    bodyView(request, "Request body", toWrite),
  ];
}

/** @param {HttpEntry} entry */
export function responseTab(entry) {
  const { response } = entry.outcome;
  if (!response) return [h("p", { class: "note" }, missing(entry))];
  const toWrite = async () => (await written("history", entry)).outcome.response ?? response;
  return [
    h(
      "p",
      { class: "first-line" },
      h(
        "strong",
        { class: `status-${Math.floor(response.status / 100)}` },
        `${response.status} ${visible(response.statusText)}`,
      ),
      " ",
      h("span", { class: "size" }, entry.action === "fulfill" ? "made by the test" : "from upstream"),
    ),
    headersView(response, "Response headers", toWrite),
    h("div", { class: "section-bar" }, h("h3", {}, "Response body")),
    bodyView(response, "Response body", toWrite),
  ];
}

/** @param {HttpEntry} entry */
function missing(entry) {
  if (entry.action === "pending") return "No response yet: the request waits for a decision.";
  if (entry.action === "abort") {
    const who = entry.outcome.errorCode === "aborted" ? "the request was aborted" : "the test made the request fail";
    return `No response: ${who}.`;
  }
  if (entry.action === "error") return "No response: the request failed before anybody could answer.";
  const failed = upstreamError(entry.events);
  return failed === undefined ? "No response was reported yet." : `No response: upstream failed. ${visible(failed)}`;
}
