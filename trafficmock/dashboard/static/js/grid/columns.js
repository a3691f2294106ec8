// @ts-check
/** The columns of both lists. */

import { ACTIONS, OUTCOMES } from "../data/actions.js";
import { bytes, clock, duration } from "../lib/format.js";
import { action, bar, pair, place, plain, status } from "./cells.js";

/** @typedef {import("./grid.js").Column} Column @typedef {import("../data/rows.js").Row} Row */

/** The sort key of a status: numbers, then error codes. @param {Row} row */
function statusKey({ status: answered, code }) {
  return answered === undefined ? code && `~${code}` : String(answered).padStart(4, "0");
}

/** @param {Row} row of a WebSocket */
function state(row) {
  if (row.closedAt !== undefined) return `closed ${row.status ?? ""}`;
  return row.action === "matched" ? "open" : "";
}

/** Tests with their marks; the marks are first, because the end may be cut off. @param {Row} row */
const marked = ({ tests, late, alsoMatched }) =>
  [late && "late", alsoMatched.length > 0 && "other routes match", tests].filter(Boolean).join(" · ");

/** @param {Row} row */
const shortType = (row) => row.type.replace(/^(application|text|image)\//, "");

/** @param {Row} row */
const size = (row) => (row.size === undefined ? "" : bytes(row.size));

/** @type {(words: Record<string, {word: string, meaning: string}>, title: string) => Column} */
const actionColumn = (words, title) => ({
  name: "action",
  title,
  show: action(words),
  by: (row) => row.action,
  least: 7,
});

/** @type {Record<string, Column>} */
const COLUMNS = {
  time: {
    name: "time",
    title: "Time",
    show: plain((row) => clock(row.at)),
    by: (row) => row.at,
    descendingFirst: true,
    least: 6.4,
    drop: 6,
  },
  method: { name: "method", title: "Method", show: plain((row) => row.method), by: (row) => row.method, least: 4 },
  status: { name: "status", title: "Status", show: status, by: statusKey, least: 4.6, most: 8.4 },
  host: {
    name: "host",
    title: "Host",
    show: plain((row) => row.host),
    by: (row) => row.host,
    least: 6.6,
    grow: 3,
    drop: 7,
  },
  path: {
    name: "path",
    title: "Path",
    show: place,
    by: (row) => row.path + row.query,
    least: 8,
    grow: 4,
  },
  client: {
    name: "client",
    title: "Client",
    show: plain((row) => row.clientId),
    by: (row) => row.clientId,
    least: 4.6,
    grow: 1,
    drop: 2,
  },
  test: {
    name: "test",
    title: "Test",
    show: pair(
      (row) => [marked(row), row.files && ` ${row.files}`],
      (row) => `${marked(row)} ${row.files}`.trim(),
    ),
    by: (row) => row.tests,
    least: 8,
    grow: 4,
    drop: 8,
  },
  type: {
    name: "type",
    title: "Type",
    show: plain(shortType, (row) => row.type),
    by: (row) => row.type,
    least: 3.6,
    most: 5,
    drop: 1,
  },
  size: {
    name: "size",
    title: "Size",
    show: plain(size),
    by: (row) => row.size,
    descendingFirst: true,
    least: 4.2,
    drop: 3,
  },
  state: { name: "state", title: "State", show: plain(state), by: state, least: 6.5 },
  duration: {
    name: "duration",
    title: "Duration",
    show: plain((row) => (row.isOpen ? "open" : duration(row.duration))),
    by: (row) => row.duration,
    descendingFirst: true,
    least: 5.6,
    drop: 5,
  },
  waterfall: {
    name: "waterfall",
    title: "Waterfall",
    show: bar,
    ranged: true,
    by: (row) => row.at,
    least: 5,
    grow: 1,
    drop: 4,
  },
};

const { time, method, host, path, client, test, waterfall } = COLUMNS;

/** @type {Column[]} */
export const REQUEST_COLUMNS = [
  time,
  method,
  COLUMNS.status,
  host,
  path,
  actionColumn(ACTIONS, "Action"),
  client,
  test,
  COLUMNS.type,
  COLUMNS.size,
  COLUMNS.duration,
  waterfall,
];

/** @type {Column[]} */
export const SOCKET_COLUMNS = [
  time,
  host,
  path,
  actionColumn(OUTCOMES, "Outcome"),
  client,
  test,
  COLUMNS.state,
  COLUMNS.duration,
  waterfall,
];
