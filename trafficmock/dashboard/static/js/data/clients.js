// @ts-check
/**
 * Which process is behind a connection: equal client names are told apart by it.
 *
 * @typedef {object} Client a row of `/api/connections`
 * @property {string} clientId
 * @property {string} connectionId
 * @property {number} [connectedAt] epoch ms
 * @property {number} [pid]
 * @property {string} [command]
 * @property {string} [kind]
 */

import { moment } from "../lib/format.js";
import { cut, oneLine } from "../lib/text.js";

const LONGEST_COMMAND = 300;

/** @param {Client} client @returns {string} empty when it did not say */
export function processOf({ pid, command = "" }) {
  return [pid === undefined ? "" : `pid ${pid}`, oneLine(cut(command, LONGEST_COMMAND))].filter(Boolean).join(" · ");
}

/** @param {Client} client @returns {string} empty when the proxy does not say */
export function sinceOf({ connectedAt }) {
  return connectedAt === undefined ? "" : moment(connectedAt);
}

/**
 * Name the processes that are connected under one client id.
 *
 * @param {Client[]} agents all that are connected
 * @param {string} clientId
 * @returns {string} empty when nobody is, or the one that is says nothing of itself
 */
export function processesOf(agents, clientId) {
  const named = agents.filter((agent) => agent.clientId === clientId);
  const described = named.map((agent) => processOf(agent) || agent.connectionId);
  if (named.length > 1) return `${named.length} connected: ${described.join("; ")}`;
  return named.map(processOf).join("");
}
