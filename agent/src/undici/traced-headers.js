"use strict";

const channels = require("node:diagnostics_channel");
const { isMentioned, withoutContext } = require("../contexts/context-headers.js");
const { pairsOf } = require("./dispatch-options.js");

const CREATED = "undici:request:create";

/** @type {WeakMap<import('../agent.js').Agent, (message: any) => void>} */
const cleaners = new WeakMap();

/**
 * OpenTelemetry adds its baggage, the context within it, to requests as undici makes
 * them, and its trace. The agent subscribes last: it removes the context from requests to other hosts,
 * and headers that are there twice.
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
 * @param {any} request of undici, with its headers as a list of names and values
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
 * Hosts of the system under test get the context once.
 * @param {any[]} list of names and values
 */
function leaveOnce(list) {
  const first = list.findIndex((value, at) => at % 2 === 1 && isMentioned(String(value)));
  // A value may be a list of its own.
  for (let at = list.length - 2; at > first; at -= 2) {
    const [name, value] = [String(list[at]), String(list[at + 1])];
    const [left] = withoutContext([[name, value]]);
    if (!left) list.splice(at, 2);
    else if (left[1] !== value) list[at + 1] = left[1];
  }
}

module.exports = { cleanLast };
