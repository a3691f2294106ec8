// @ts-check
/** Writes a recorded request as a curl command, and as a `fetch` call. */

import { decode, isBinary, text } from "../bodies/bytes.js";
import { js, shell } from "./quote.js";

/** @typedef {import("../../../rest-records.js").HttpRequest} HttpRequest */

/** Headers that a client writes itself. */
const OWN = ["host", "content-length", "connection", "transfer-encoding", "accept-encoding"];

/** @param {HttpRequest} request @returns {[string, string][]} */
function headers(request) {
  const pairs = request.headersList ?? Object.entries(request.headers);
  return pairs.filter(([name]) => !OWN.includes(name.toLowerCase()) && !name.startsWith(":"));
}

/** @param {HttpRequest} request @returns {string} */
export function asCurl(request) {
  const bytes = decode(request.bodyBase64);
  // Marks of secrets have brackets, which curl would take for a range.
  const parts = [`curl ${/[[\]{}]/.test(request.url) ? "--globoff " : ""}${shell(request.url)}`];
  if (request.method !== (bytes.length ? "POST" : "GET")) {
    parts.push(request.method === "HEAD" ? "--head" : `-X ${shell(request.method)}`);
  }
  for (const [name, value] of headers(request)) parts.push(`-H ${shell(value ? `${name}: ${value}` : `${name};`)}`);
  if (!bytes.length) return parts.join(" \\\n  ");
  if (!isBinary(bytes)) return [...parts, `--data-raw ${shell(text(bytes, "utf-8"))}`].join(" \\\n  ");
  return `base64 -d <<< ${request.bodyBase64} | ${[...parts, "--data-binary @-"].join(" \\\n  ")}`;
}

/** @param {HttpRequest} request @returns {string} */
export function asFetch(request) {
  const bytes = decode(request.bodyBase64);
  const lines = [`await fetch(${js(request.url)}, {`, `  method: ${js(request.method)},`];
  const given = headers(request);
  if (given.length) {
    lines.push("  headers: {", ...given.map(([name, value]) => `    ${js(name)}: ${js(value)},`), "  },");
  }
  if (bytes.length) {
    lines.push(
      isBinary(bytes)
        ? `  body: Uint8Array.from(atob(${js(request.bodyBase64 ?? "")}), (sign) => sign.charCodeAt(0)),`
        : `  body: ${js(text(bytes, "utf-8"))},`,
    );
  }
  return [...lines, "});"].join("\n");
}
