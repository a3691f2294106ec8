// @ts-check
/** Writes a recorded request as a route that answers with the recorded response. */

import { contentType, decode, isBinary, text } from "../bodies/bytes.js";
import { readJson } from "../bodies/json.js";
import { glob, js, python, pythonValue } from "./quote.js";

/** @typedef {import("../../../rest-records.js").HttpEntry} HttpEntry */

/**
 * @typedef {object} Answer the response of a route
 * @property {number} status
 * @property {string} type
 * @property {any} [json]
 * @property {string} [body]
 * @property {string} [base64] the body, if it is not text
 */

/** @param {HttpEntry} entry @returns {Answer} */
function answerOf(entry) {
  const response = entry.outcome.response;
  if (!response) return { status: 200, type: "application/json", json: {} };
  const { type } = contentType(response.headers);
  const bytes = decode(response.bodyBase64);
  const answer = { status: response.status, type };
  if (!bytes.length) return answer;
  if (isBinary(bytes)) return { ...answer, base64: response.bodyBase64 ?? "" };
  const body = text(bytes, "utf-8");
  const read = type === "application/json" ? readJson(body) : null;
  const exact = read && JSON.stringify(read.value) === JSON.stringify(JSON.parse(body));
  return exact ? { ...answer, json: read.value } : { ...answer, body };
}

/** @param {HttpEntry} entry */
const urlOf = (entry) => glob(entry.request.url.replace(/#.*$/s, ""));

/** For the npm fixture. @param {HttpEntry} entry @returns {string} */
export function asJavaScript(entry) {
  const matcher = `{ url: ${js(urlOf(entry))}, method: ${js(entry.request.method)} }`;
  if (entry.action === "abort") {
    return `await backendMocks.route(${matcher}, (route) => route.abort(${js(entry.outcome.errorCode ?? "failed")}));`;
  }
  const { status, type, json, body, base64 } = answerOf(entry);
  const lines = [`await backendMocks.route(${matcher}, (route) =>`, "  route.fulfill({", `    status: ${status},`];
  if (json !== undefined) lines.push(`    json: ${JSON.stringify(json, null, 2).replaceAll("\n", "\n    ")},`);
  else {
    if (type) lines.push(`    contentType: ${js(type)},`);
    if (base64) lines.push(`    body: Buffer.from(${js(base64)}, "base64"),`);
    else if (body !== undefined) lines.push(`    body: ${js(body)},`);
  }
  return [...lines, "  }),", ");"].join("\n");
}

/** For `trafficmock.testing`. @param {HttpEntry} entry @returns {string} */
export function asPython(entry) {
  const begin = ["trafficmock.route(", `    ${python(urlOf(entry))},`];
  const end = [`    method=${python(entry.request.method)},`, ")"];
  if (entry.action === "abort") {
    return [...begin, `    lambda route, _: route.abort(${python(entry.outcome.errorCode ?? "failed")}),`, ...end].join(
      "\n",
    );
  }
  const { status, type, json, body, base64 } = answerOf(entry);
  const given = [`        status=${status},`];
  if (json !== undefined) given.push(`        json=${pythonValue(json, "        ")},`);
  else {
    if (type) given.push(`        content_type=${python(type)},`);
    if (base64) given.push(`        body=base64.b64decode(${python(base64)}),`);
    else if (body !== undefined) given.push(`        body=${python(body)},`);
  }
  const call = ["    lambda route, _: route.fulfill(", ...given, "    ),"];
  return [...(base64 ? ["import base64", ""] : []), ...begin, ...call, ...end].join("\n");
}
