"use strict";

/**
 * Lists the requests that came during a wait that timed out, most similar first.
 *
 * @typedef {import("./request-state.js").RequestState} RequestState
 */

const MOST_SHOWN = 8;
const MOST_AGENTS = 10;
const HOW_TO_ATTACH =
  "Start the application with the environment that attached({ clientId }) of trafficmock-playwright/config gives, " +
  "or through `trafficmock run -- COMMAND`.";
/** How an application is attached, by the `kind` of its connection. @type {Record<string, string>} */
const WAYS = { proxy: "the forward proxy", python: "the Python preload" };
const FROM_FIRST_REQUEST =
  "An application without the Node agent, such as a Python one, is listed from its first request on.";

/**
 * @param {{ kind: string, isTooOld(request: RequestState): boolean, matcher?: import("../arguments/matcher.js").Matcher }} waiter
 * @param {RequestState[]} seen all requests since the test began, oldest first
 * @param {{ agents?: any[], problemOf(request: RequestState): string }} known `agents` are the connected applications,
 *   `undefined` if the proxy does not report them; `problemOf` returns why a request is not decided
 */
function describeSeen(waiter, seen, { agents, problemOf }) {
  if (seen.length === 0) {
    return ["No request of any application came since the test began.", ...connected(agents)].join("\n");
  }
  const wanted = typeof waiter.matcher?.url === "string" ? waiter.matcher.url : "";
  const ranked = wanted ? seen.sort((a, b) => nearness(wanted, b.url) - nearness(wanted, a.url)) : seen.reverse();
  const lines = [`Seen since the test began, ${wanted ? "nearest" : "newest"} first:`];
  for (const request of ranked.slice(0, MOST_SHOWN)) {
    const reasons = [reasonFor(waiter, wanted, request), problemOf(request)].filter(Boolean).join("; ");
    lines.push(`  ${request} (client ${request.clientId})${reasons && `: ${reasons}`}`);
  }
  if (ranked.length > MOST_SHOWN) lines.push(`  and ${ranked.length - MOST_SHOWN} more`);
  return lines.join("\n");
}

/**
 * @param {{ kind: string, isTooOld(request: RequestState): boolean, matcher?: import("../arguments/matcher.js").Matcher }} waiter
 * @param {string} glob
 * @param {RequestState} request
 */
function reasonFor(waiter, glob, request) {
  if (waiter.matcher && !waiter.matcher.matchesUrl(request.url)) {
    return (glob && differences(glob, request.url).join(", ")) || "the URL differs";
  }
  const { methods = [], clientIds = [] } = waiter.matcher ?? {};
  if (methods.length && !methods.includes(request.method.toUpperCase())) {
    return `the method is not ${methods.join(" or ")}`;
  }
  if (clientIds.length && !clientIds.includes(request.clientId)) return `the client is not ${clientIds.join(" or ")}`;
  if (waiter.isTooOld(request)) return "came before the wait began: begin it before the act";
  if (waiter.kind === "response" && !request.response) return "no response yet, or it failed";
  return waiter.matcher ? "" : "the predicate did not want it";
}

/**
 * @param {string} glob
 * @param {string} url
 * @returns {string[]} the parts of the URL that the glob does not match, as far as they can be separated
 */
function differences(glob, url) {
  const there = new URL(url);
  const [protocol, query] = [there.protocol.slice(0, -1), there.search.slice(1)];
  const parts = /^([^/]*):\/\/([^/?]*)(\/[^?]*)?(?:\?(.*))?$/.exec(glob);
  if (!parts) {
    if (!fits(glob, url.slice(0, url.length - there.search.length))) return ["path differs"];
    return [`query differs ('${query}': a glob is for the whole URL, queries too)`];
  }
  const [, scheme, host, path = "/", search = ""] = parts;
  return [
    difference("scheme", scheme, protocol),
    difference("host", host, there.host),
    difference("path", path, there.pathname),
    difference("query", search, query),
  ].flat();
}

/**
 * @param {string} part of a URL
 * @param {string} wanted
 * @param {string} is
 */
const difference = (part, wanted, is) => (fits(wanted, is) ? [] : [`${part} differs ('${is}', not '${wanted}')`]);

/**
 * @param {string} pattern with stars
 * @param {string} text
 */
function fits(pattern, text) {
  const source = pattern.replace(/[\\^$.+?()[\]{}|]/g, "\\$&").replace(/\*+/g, ".*");
  return new RegExp(`^${source}$`).test(text);
}

/**
 * Measure the similarity of two texts by the share of three-letter pieces that both have.
 *
 * @param {string} wanted
 * @param {string} text
 */
function nearness(wanted, text) {
  const [a, b] = [pieces(wanted), pieces(text)];
  let both = 0;
  for (const piece of a) if (b.has(piece)) both += 1;
  return both / (a.size + b.size || 1);
}

/** @param {string} text */
function pieces(text) {
  const found = new Set();
  for (let i = 0; i + 3 <= text.length; i += 1) found.add(text.slice(i, i + 3));
  return found;
}

/**
 * List the connected applications or, without any, how to attach one.
 * @param {any[] | undefined} agents `undefined` if the proxy does not report them
 */
function connected(agents) {
  if (!agents) return [`Does the application run attached? ${HOW_TO_ATTACH}`];
  if (!agents.length) return [`No application is connected to the proxy. ${HOW_TO_ATTACH}`, FROM_FIRST_REQUEST];
  const lines = agents.slice(0, MOST_AGENTS).map(({ clientId, kind, pid, command }) => {
    const by = WAYS[kind] ?? "the Node agent";
    return `  ${clientId}, by ${by}${pid ? `, pid ${pid}` : ""}${command ? `, ${command}` : ""}`;
  });
  if (agents.length > MOST_AGENTS) lines.push(`  and ${agents.length - MOST_AGENTS} more`);
  return ["Applications that are connected:", ...lines];
}

module.exports = { connected, describeSeen };
