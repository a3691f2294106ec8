"use strict";

const channels = require("node:diagnostics_channel");
const { isMentioned, withoutContext } = require("../contexts/context-headers.js");
const { pairsOf } = require("./dispatch-options.js");

const CREATED = "undici:request:create";

/** @type {WeakMap<import('../agent.js').Agent, (message: any) => void>} */
const cleaners = new WeakMap();

/**
 * Correct the headers of requests after OpenTelemetry, which adds its trace and its baggage with the context
 * when undici makes a request. The agent subscribes after it: it removes the context from requests to other
 * hosts, and duplicates of the headers.
 * @param {import('../agent.js').Agent} agent
 */
function cleanLast(agent) {
  const clean = cleaners.get(agent) ?? ((/** @type {any} */ { request }) => cleaned(agent, request));
  cleaners.set(agent, clean);
  channels.unsubscribe(CREATED, clean);
  channels.subscribe(CREATED, clean);
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {any} request undici's request; its headers are a list of names and values
 */
function cleaned(agent, request) {
  const { origin, headers: list } = request;
  const { contexts } = agent;
  if (!contexts.isOn || !agent.isAttached || !Array.isArray(list) || !URL.canParse(String(origin))) return;
  if (agent.hosts.isOfSystem(new URL(String(origin)))) return leaveOnce(list);
  const pairs = pairsOf(list);
  const left = contexts.concealed(pairs, contexts.current());
  if (left !== pairs) list.splice(0, list.length, ...left.flat());
}

/**
 * Remove duplicates of the context from a request to the system under test.
 * @param {any[]} list of names and values
 */
function leaveOnce(list) {
  const first = list.findIndex((value, at) => at % 2 === 1 && isMentioned(String(value)));
  // A value may have other members besides the context.
  for (let at = list.length - 2; at > first; at -= 2) {
    const [name, value] = [String(list[at]), String(list[at + 1])];
    const [left] = withoutContext([[name, value]]);
    if (!left) list.splice(at, 2);
    else if (left[1] !== value) list[at + 1] = left[1];
  }
}

module.exports = { cleanLast };
