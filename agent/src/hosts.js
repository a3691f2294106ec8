"use strict";

/** Loopback, `*.localhost`, and names without a dot. */
const OF_SYSTEM = /^(127\.\d+\.\d+\.\d+|\[::1\]|(.*\.)?localhost|[^.[\]]+)$/i;
/** An IPv4 address that is mapped into IPv6. */
const MAPPED = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/;

/**
 * Which hosts are not for tests: the proxy itself, and those that the settings name. Which
 * are those of the system under test, that a test's context may go on to.
 */
class Hosts {
  /** @param {{ proxyUrl: string, ignoreHosts: string[] }} settings */
  constructor({ proxyUrl, ignoreHosts }) {
    this.ofProxy = hostsOf(proxyUrl);
    this.ignored = ignoreHosts.map(hostExpression);
    /** Of the system under test, besides those that are by their name. @type {RegExp[]} */
    this.ofSystem = [];
  }

  /** @param {unknown} globs the proxy's `ownHosts` */
  setSystem(globs) {
    this.ofSystem = (Array.isArray(globs) ? globs : []).map((glob) => hostExpression(String(glob)));
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether its host is one of the system under test
   */
  isOfSystem(url) {
    const name = plainName(url.hostname);
    return OF_SYSTEM.test(name) || this.ofSystem.some((host) => host.test(`${name}:${portOf(url)}`));
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether it goes to the proxy itself
   */
  isProxy(url) {
    return this.ofProxy.has(hostOf(url));
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether its request is neither intercepted nor recorded
   */
  isIgnored(url) {
    return this.isProxy(url) || (this.ignored.length > 0 && this.ignored.some((host) => host.test(hostOf(url))));
  }

  /**
   * @param {unknown} text that may be a URL
   * @returns {boolean} whether it is one of the proxy itself
   */
  isProxyText(text) {
    return typeof text === "string" && URL.canParse(text) && this.isProxy(new URL(text));
  }
}

/** @param {string} hostname of a URL, which may have a dot at its end */
function plainName(hostname) {
  const halves = MAPPED.exec(hostname)?.slice(1);
  if (!halves) return hostname.replace(/\.$/, "");
  return halves
    .map((half) => parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 255])
    .join(".");
}

/** @param {URL} url */
const hostOf = (url) => `${url.hostname}:${portOf(url)}`;

/** @param {URL} url */
const portOf = (url) => url.port || (/^(https|wss):$/.test(url.protocol) ? "443" : "80");

/**
 * @param {string} pattern of the setting `ignoreHosts`, or any text that the proxy has as `--own-host`
 * @returns {RegExp} that matches hosts with their port
 */
function hostExpression(pattern) {
  const whole = /:(\d+|\*)$/.test(pattern) ? pattern : `${pattern}:*`;
  const parts = whole.split(/\*+/).map((part) => part.replace(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "i");
}

/** @param {string} proxyUrl */
function hostsOf(proxyUrl) {
  const url = new URL(proxyUrl);
  const own = hostOf(url);
  const port = own.slice(own.lastIndexOf(":"));
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  return new Set(isLoopback ? [own, `localhost${port}`, `127.0.0.1${port}`, `[::1]${port}`] : [own]);
}

module.exports = { Hosts };
