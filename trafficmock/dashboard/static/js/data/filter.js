// @ts-check
/**
 * The filter of a list.
 *
 * @typedef {object} Filter
 * @property {string} q words, all of which a row must have
 * @property {string[]} actions one of these; none allows all
 * @property {string} client
 * @property {string} test a test's id
 * @property {"" | Ownership} owner
 * @property {string} host
 * @property {boolean} failed only rows with errors
 * @property {number} last only this many last seconds; 0 for all
 * @property {number} from epoch ms; 0 for all
 * @property {number} to epoch ms; 0 for all
 * @property {boolean} deep whether the proxy searches `q` in headers and bodies, too
 *
 * @typedef {import("./rows.js").Row} Row
 * @typedef {keyof typeof OWNERSHIPS} Ownership
 */

/** The choices of the filter by owner, besides the tests. */
export const OWNERSHIPS = {
  unowned: { title: "Nobody", fits: (/** @type {Row} */ row) => !row.testId },
  late: { title: "Late", fits: (/** @type {Row} */ row) => row.late },
  also: { title: "Other routes match", fits: (/** @type {Row} */ row) => row.alsoMatched.length > 0 },
};

/** @param {string} name @returns {"" | Ownership} */
const ownership = (name) => (name in OWNERSHIPS ? /** @type {Ownership} */ (name) : "");

/** @param {URLSearchParams} given @returns {Filter} */
export function readFilter(given) {
  const number = (/** @type {string} */ name) => {
    const value = Number(given.get(name));
    return Number.isFinite(value) && value > 0 ? value : 0;
  };
  return {
    q: given.get("q") ?? "",
    actions: (given.get("action") ?? "").split(",").filter(Boolean),
    client: given.get("client") ?? "",
    test: given.get("test") ?? "",
    owner: ownership(given.get("owner") ?? ""),
    host: given.get("host") ?? "",
    failed: given.get("failed") === "1",
    last: number("last"),
    from: number("from"),
    to: number("to"),
    deep: given.get("deep") === "1",
  };
}

/** @param {Filter} filter @returns {Record<string, string>} URL parameters; empty ones are removed */
export function writeFilter(filter) {
  return {
    q: filter.q,
    action: filter.actions.join(","),
    client: filter.client,
    test: filter.test,
    owner: filter.owner,
    host: filter.host,
    failed: filter.failed ? "1" : "",
    last: filter.last ? String(filter.last) : "",
    from: filter.from ? String(filter.from) : "",
    to: filter.to ? String(filter.to) : "",
    deep: filter.deep ? "1" : "",
  };
}

/** @param {Filter} filter */
export function isEmpty(filter) {
  return !Object.values(writeFilter(filter)).some(Boolean);
}

/**
 * Make the predicate of a filter.
 *
 * @param {Filter} filter
 * @param {{now?: number, found?: Set<string> | null, actions?: boolean}} [how] `found`: ids of the
 *   proxy's deep search; `actions: false` ignores the filter of actions, to count each of them
 * @returns {(row: Row) => boolean}
 */
export function accepts(filter, { now = Date.now(), found = null, actions = true } = {}) {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  const earliest = Math.max(filter.from, filter.last ? now - filter.last * 1000 : 0);
  return (row) =>
    (!actions || !filter.actions.length || filter.actions.includes(row.action)) &&
    (!filter.client || row.clientId === filter.client) &&
    (!filter.test || row.testId === filter.test || row.matches.some((m) => m.testId === filter.test)) &&
    (!filter.owner || OWNERSHIPS[filter.owner].fits(row)) &&
    (!filter.host || row.host === filter.host) &&
    (!filter.failed || row.failed) &&
    row.at >= earliest &&
    (!filter.to || row.at <= filter.to) &&
    (words.every((word) => row.haystack.includes(word)) || (filter.deep && !!found?.has(row.id)));
}
