"use strict";

const { setInterval, clearInterval } = require("node:timers");
const { randomBytes } = require("node:crypto");
const { Link } = require("./link.js");
const { TrafficMockError } = require("./errors.js");
const { patience } = require("./patience.js");

/** How long requests wait for the first handshake; ms. */
const START_MS = 2000;
/** Any long time: the timer is there to be counted, not to fire. */
const LONG_MS = 2 ** 30;

/** @typedef {{ receive?(message: any): void, lost(error: Error): void }} Party */

/**
 * What is attached to this process: the link, and everything that waits for
 * the proxy's word. Knows nothing of HTTP clients: those hand in an
 * {@link import('./exchange.js').Exchange} or a WebSocket bridge, and get the
 * messages that carry its id.
 */
class Agent {
  /** @param {import('./settings.js').Settings} settings */
  constructor(settings) {
    this.settings = settings;
    this.clientId = settings.clientId;
    /** @type {'starting' | 'up' | 'down' | 'stopped'} */
    this.state = "starting";
    /** @type {Error} */
    this.error = new TrafficMockError("unreachable", "trafficmock has not connected yet.");
    /** @type {Set<string>} */
    this.features = new Set();
    /** @type {{ history: number, handler: number } | undefined} */
    this.bodyLimits = undefined;
    /** By their ids; who has none yet, by itself. @type {Map<string | Party, Party>} */
    this.parties = new Map();
    /** @type {(() => void)[]} */
    this.queue = [];
    /** @type {NodeJS.Timeout | undefined} */
    this.alive = undefined;
    this.holds = 0;
    /** How often the link has come up: what was announced over one is unknown to the next. */
    this.links = 0;
    this.link = new Link(settings, this);
    this.ownHosts = hostsOf(settings.proxyUrl);
    this.ignored = settings.ignoreHosts.map(hostExpression);
    /** @type {(error?: Error) => void} */
    this.started = () => {};
    this.endPatience = () => {};
  }

  /** @returns {Promise<void>} settles with the first handshake, within 2 s */
  start() {
    return new Promise((resolve, reject) => {
      this.started = (error) => (error ? reject(error) : resolve());
      this.endPatience = patience(START_MS, () => this.down(this.error));
      this.link.open();
    });
  }

  /** @param {any} hello the proxy's `hello:ok` */
  up(hello) {
    this.endPatience();
    this.state = "up";
    this.links += 1;
    this.clientId = String(hello.clientId ?? this.clientId);
    this.features = new Set(Array.isArray(hello.features) ? hello.features : []);
    this.bodyLimits = this.streams ? hello.bodyLimits : undefined;
    this.started();
    for (const act of this.queue.splice(0)) act();
  }

  /** @param {Error} error why the link is not there */
  down(error) {
    this.endPatience();
    if (this.state === "stopped") return;
    this.state = "down";
    this.error = error;
    this.started(error);
    this.dropAll(error);
  }

  /** @param {Error} error what everybody who waits gets */
  dropAll(error) {
    const parties = [...this.parties.values()];
    this.parties.clear();
    for (const act of this.queue.splice(0)) act();
    for (const party of parties) party.lost(error);
  }

  /** End it: whoever waits fails, the link closes. */
  stop() {
    if (this.state === "stopped") return;
    this.state = "stopped";
    this.endPatience();
    this.link.close();
    this.error = new TrafficMockError("stopped", "trafficmock was stopped while this request waited for a decision.");
    this.dropAll(this.error);
  }

  /** @param {any} message of the proxy */
  message(message) {
    this.parties.get(message.requestId ?? message.socketId)?.receive?.(message);
  }

  /**
   * @param {object} message for the proxy; dropped while there is no link
   * @param {number} [links] as it was when the proxy heard of the request; dropped when it has changed
   */
  send(message, links = this.links) {
    if (this.state === "up" && links === this.links) this.link.send(message);
  }

  /**
   * Enter something that waits for messages with its id.
   * @param {string} id
   * @param {Party} party hears of it when the link is lost
   * @param {() => void} announce called once the link is up
   */
  enter(id, party, announce) {
    if (this.state === "up") {
      this.parties.set(id, party);
      announce();
    } else if (this.state === "starting") {
      this.queue.push(() => {
        if (this.state !== "up") return party.lost(this.error);
        this.parties.set(id, party);
        announce();
      });
    } else party.lost(this.error);
  }

  /** @param {string | Party} id */
  leave(id) {
    this.parties.delete(id);
  }

  /**
   * Have somebody hear of a lost link who is not announced yet: its body is still read.
   * @param {Party} party
   * @returns {boolean} whether there is a link; if not it has heard of it already
   */
  attend(party) {
    if (this.state === "up") this.parties.set(party, party);
    else party.lost(this.error);
    return this.state === "up";
  }

  /**
   * @param {() => void} act called once it is known what the proxy speaks, or that there is none
   */
  known(act) {
    if (this.state !== "starting") return act();
    this.hold();
    this.queue.push(() => {
      this.release();
      act();
    });
  }

  /** @returns {boolean} whether the proxy takes bodies after their requests */
  get streams() {
    return this.state === "up" && this.features.has("stream");
  }

  /** Keep the process alive, as a socket in use would. */
  hold() {
    this.holds += 1;
    this.alive ??= setInterval(() => {}, LONG_MS);
  }

  release() {
    this.holds -= 1;
    if (this.holds > 0) return;
    clearInterval(this.alive);
    this.alive = undefined;
  }

  /** @returns {boolean} whether requests are to be intercepted at all */
  get isAttached() {
    return this.state !== "stopped";
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether it goes to the proxy itself
   */
  isOwn(url) {
    return this.ownHosts.has(hostOf(url));
  }

  /**
   * @param {URL} url
   * @returns {boolean} whether its request is not for tests and the history: it goes to the proxy itself, or the settings say so
   */
  leavesAlone(url) {
    return this.isOwn(url) || (this.ignored.length > 0 && this.ignored.some((host) => host.test(hostOf(url))));
  }

  /**
   * @param {unknown} text that may be a URL
   * @returns {boolean} whether it is one of the proxy itself
   */
  isOwnText(text) {
    return typeof text === "string" && URL.canParse(text) && this.isOwn(new URL(text));
  }
}

/** @param {URL} url */
function hostOf(url) {
  const port = url.port || (/^(https|wss):$/.test(url.protocol) ? "443" : "80");
  return `${url.hostname}:${port}`;
}

/**
 * @param {string} pattern of the setting `ignoreHosts`
 * @returns {RegExp} that matches hosts with their port
 */
function hostExpression(pattern) {
  const whole = /:(\d+|\*)$/.test(pattern) ? pattern : `${pattern}:*`;
  const parts = whole.split(/\*+/).map((part) => part.replace(/[.[\]]/g, "\\$&"));
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

/** @returns {string} an id as protocol 3's agents make them */
const newId = () => randomBytes(8).toString("hex");

module.exports = { Agent, newId };
