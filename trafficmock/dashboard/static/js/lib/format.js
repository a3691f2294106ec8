// @ts-check
/** Formats numbers, times and URLs. */

const pad = (/** @type {number} */ n, width = 2) => String(n).padStart(width, "0");

/** @param {number} at epoch ms @returns {string} like 14:03:09.120, local time */
export function clock(at) {
  const t = new Date(at);
  return `${pad(t.getHours())}:${pad(t.getMinutes())}:${pad(t.getSeconds())}.${pad(t.getMilliseconds(), 3)}`;
}

/** @param {number} at epoch ms @returns {string} with the day and the zone, local time */
export function dateTime(at) {
  const t = new Date(at);
  return `${t.getFullYear()}-${pad(t.getMonth() + 1)}-${pad(t.getDate())} ${clock(at)} ${zone(at)}`;
}

/** @param {number} at epoch ms @returns {string} the zone of local times, like UTC or UTC+05:30 */
export function zone(at) {
  const minutes = -new Date(at).getTimezoneOffset();
  const size = Math.abs(minutes);
  return minutes ? `UTC${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}` : "UTC";
}

/** @param {number} at epoch ms @returns {string} the local time, with the day if it is not today */
export function moment(at) {
  return new Date(at).toDateString() === new Date().toDateString() ? clock(at) : dateTime(at);
}

/** @param {number | undefined} ms */
export function duration(ms) {
  if (ms === undefined) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/**
 * Split a URL into its parts. A text that is not a URL becomes the path.
 *
 * @param {string} url
 * @returns {{scheme: string, host: string, path: string, query: string}}
 */
export function urlParts(url) {
  const found = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(.*)$/is.exec(url);
  if (!found) return { scheme: "", host: "", path: url, query: "" };
  return { scheme: found[1], host: found[2], path: found[3] || "/", query: found[4] };
}
