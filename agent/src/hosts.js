"use strict";

const { hostExpression, plainName } = require("./host-pattern.js");
const { UNDER_TEST } = require("./protocol/facts.js");

/** Hosts that always belong to the system under test: loopback, `*.localhost`, and names without a dot. */
const OF_SYSTEM = new RegExp(`^(?:${UNDER_TEST})$`);

const LOOPBACK = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * The hosts that are not intercepted: the proxy itself, and those of the setting `ignoreHosts`. And
 * the hosts of the system under test, to which the context of a test is forwarded.
 */
class Hosts {
  /** @param {{ proxyUrl: string, ignoreHosts: string[] }} settings */
  constructor({ proxyUrl, ignoreHosts }) {
    this.ofProxy = hostsOf(proxyUrl);
    this.ignored = ignoreHosts.map(hostExpression);
    /** More hosts of the system under test, from the proxy's `--own-host`. @type {RegExp[]} */
    this.ofSystem = [];
    /** The servers of this process, if its tests call them. @type {import('./http/own-servers.js').OwnServers | undefined} */
    this.ownServers = undefined;
  }

  /** @param {unknown} patterns the proxy's `ownHosts` */
  setSystem(patterns) {
    this.ofSystem = (Array.isArray(patterns) ? patterns : []).map((pattern) => hostExpression(String(pattern)));
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether its host belongs to the system under test
   */
  isOfSystem(url) {
    return OF_SYSTEM.test(plainName(url.hostname)) || this.ofSystem.some((host) => host.test(hostOf(url)));
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
   * @param {URL} url
   * @returns {boolean} whether it goes to a server of this process, which its tests call: it keeps the context
   */
  isOwnServer(url) {
    return this.ownServers?.has(url) ?? false;
  }

  /**
   * Choose the URL that counts for a request that names a URL: a plain proxy sends it there. But no other server reaches
   * this machine's hosts or the ignored ones, so that such a request is one to that server.
   * @param {URL} named
   * @param {URL} peer that the request connects to
   * @returns {URL}
   */
  counted(named, peer) {
    if (!this.isNear(named) || this.isNear(peer)) return named;
    return new URL(`${peer.origin}${named.pathname}${named.search}`);
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether it goes to the proxy itself, or to the system under test
   */
  isNearby(url) {
    return this.isProxy(url) || this.isOfSystem(url);
  }

  /** @param {URL} url */
  isNear(url) {
    return this.isOfSystem(url) || this.isIgnored(url);
  }

  /**
   * @param {unknown} text that may be a URL
   * @returns {boolean} whether it is a URL of the proxy itself
   */
  isProxyText(text) {
    return typeof text === "string" && URL.canParse(text) && this.isProxy(new URL(text));
  }
}

/** @param {URL} url @returns {string} its host and port */
const hostOf = (url) => `${plainName(url.hostname)}:${portOf(url)}`;

/** @param {URL} url */
const isLoopback = (url) => LOOPBACK.test(plainName(url.hostname));

/** @param {URL} url */
const portOf = (url) => url.port || (/^(https|wss):$/.test(url.protocol) ? "443" : "80");

/**
 * @param {string} proxyUrl
 * @returns {Set<string>} the proxy's `host:port`, with all names of loopback if it is one of them
 */
function hostsOf(proxyUrl) {
  const url = new URL(proxyUrl);
  const own = hostOf(url);
  const port = own.slice(own.lastIndexOf(":"));
  return new Set(isLoopback(url) ? [own, `localhost${port}`, `127.0.0.1${port}`, `[::1]${port}`] : [own]);
}

module.exports = { Hosts, hostOf, isLoopback, portOf };
