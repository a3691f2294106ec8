// @ts-check
/**
 * The process of a connection, by which clients with the same id are distinguished.
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

/** @param {Client} client @returns {string} empty if the client sent neither pid nor command */
export function processOf({ pid, command = "" }) {
  return [pid === undefined ? "" : `pid ${pid}`, oneLine(cut(command, LONGEST_COMMAND))].filter(Boolean).join(" · ");
}

/** @param {Client} client @returns {string} empty if the proxy does not send the time */
export function sinceOf({ connectedAt }) {
  return connectedAt === undefined ? "" : moment(connectedAt);
}

/**
 * Return the processes that are connected with one client id, as text.
 *
 * @param {Client[]} agents all connected ones
 * @param {string} clientId
 * @returns {string} empty if there is none, or only one without pid and command
 */
export function processesOf(agents, clientId) {
  const named = agents.filter((agent) => agent.clientId === clientId);
  const described = named.map((agent) => processOf(agent) || agent.connectionId);
  if (named.length > 1) return `${named.length} connected: ${described.join("; ")}`;
  return named.map(processOf).join("");
}
