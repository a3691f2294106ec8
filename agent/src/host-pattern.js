"use strict";

/**
 * Patterns of hosts: `HOST` or `HOST:PORT`, in which `*` is any text and `?` any character; without
 * a port all ports. The proxy reads the same ones (`trafficmock/matching/host_pattern.py`), and
 * `tests/data/host_patterns.json` has the cases for both.
 */

const HOST_AND_PORT = /^(\[[^[\]]*\]|[^:[\]]*)(?::(.*))?$/s;
const WILDCARDS = /[*?]/;
const WITH_WILDCARDS = /^([\w.~*?-]+|\[[\da-f:.*?]+\])$/i;
const NO_HOST = /[\s#@%\\/,]/;
/** An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2), as in a URL. */
const MAPPED = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/;

/**
 * @param {string} text a pattern; an IPv6 address needs brackets if a port follows
 * @returns {string | undefined} the pattern as URLs have its host; nothing if no host can match it
 */
function normalPattern(text) {
  const isBare = text.split(":").length > 2 && !text.startsWith("[");
  const [, host, given] = HOST_AND_PORT.exec(isBare ? `[${text}]` : text) ?? [];
  const name = host && hostOf(host);
  const port = given === undefined ? "*" : portOf(given);
  if (!name || !port) return undefined;
  return port === "*" ? name : `${name}:${port}`;
}

/** @param {string} host */
function hostOf(host) {
  if (NO_HOST.test(host)) return undefined;
  if (WILDCARDS.test(host)) return WITH_WILDCARDS.test(host) ? host.toLowerCase().replace(/\.$/, "") : undefined;
  const url = `http://${host}/`;
  const name = URL.canParse(url) ? plainName(new URL(url).hostname) : "";
  return name.endsWith(".") ? undefined : name;
}

/** @param {string} port */
function portOf(port) {
  if (WILDCARDS.test(port)) return /^[\d*?]+$/.test(port) ? port.replace(/^\*+$/, "*") : undefined;
  return /^0*\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65536 ? String(Number(port)) : undefined;
}

/**
 * @param {string} hostname of a URL
 * @returns {string} without a dot at its end; a mapped IPv4 address in its IPv4 form
 */
function plainName(hostname) {
  const halves = MAPPED.exec(hostname)?.slice(1);
  if (!halves) return hostname.replace(/\.$/, "");
  return halves
    .map((half) => parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 255])
    .join(".");
}

/**
 * @param {string} pattern as {@link normalPattern} writes it
 * @returns {RegExp} that matches `host:port` as {@link plainName} writes the host
 */
function hostExpression(pattern) {
  const whole = /^[^:]*$|\]$/.test(pattern) ? `${pattern}:*` : pattern;
  const literal = whole.replace(/[\\^$.+()[\]{}|]/g, "\\$&");
  return new RegExp(`^${literal.replace(/\*+/g, ".*").replaceAll("?", ".")}$`);
}

module.exports = { normalPattern, plainName, hostExpression };
