"use strict";

const { AGENT_FEATURES, BODY_LIMITS, REQUIRED_FEATURES } = require("./protocol/facts.js");
const { Link, parse } = require("./protocol/link.js");
const { version } = require("../package.json");
const { commandLine } = require("./process/command-line.js");
const { Hosts } = require("./hosts.js");
const { withOwnRequest } = require("./http/own-request.js");
const { KeepAlive } = require("./process/keep-alive.js");
const { TrafficMockError } = require("./protocol/errors.js");
const { contextToWire } = require("./protocol/messages.js");
const { startDeadline } = require("./protocol/deadline.js");
const { LocalDecisions } = require("./local/local-decisions.js");
const { Waiters } = require("./waiters.js");
const { TestContexts } = require("./contexts/test-contexts.js");
const { sayOnce } = require("./process/say-once.js");
const { onUnhooked } = require("./process/unhooked.js");

/** The time limit of the first handshake, for which requests wait; ms. */
const START_MS = 2000;

/** What an agent does not tell that reads no contexts. */
const OF_CONTEXTS = new Set(["origins", "seen-contexts"]);

/** How many messages wait for the handshake. */
const MOST_WAITING = 1000;

/** The state of the link to the proxy, and the parts that use it. It does not depend on any HTTP client. */
class Agent {
  /** @param {import('./settings.js').Settings} settings */
  constructor(settings) {
    this.settings = settings;
    this.clientId = settings.clientId;
    /** @type {'starting' | 'up' | 'down' | 'stopped'} */
    this.state = "starting";
    /** @type {Error} */
    this.error = new TrafficMockError("unreachable", "trafficmock has not connected yet.");
    /** How much of a body is sent to the proxy; bytes. @type {{ history: number, handler: number }} */
    this.bodyLimits = BODY_LIMITS;
    this.waiters = new Waiters(this);
    this.keepAlive = new KeepAlive();
    /** The number of connections so far: a request that was announced on one is unknown on the next. */
    this.links = 0;
    const { proxyUrl } = settings;
    this.link = new Link(
      { proxyUrl, hello: helloOf(settings), requires: REQUIRED_FEATURES, open: withOwnRequest },
      this,
    );
    this.hosts = new Hosts(settings);
    this.contexts = new TestContexts(settings, this.hosts, (context) => this.saw(context));
    /** Whether the proxy wants to know of contexts that come in, and of requests to ignored hosts. */
    this.isTelling = false;
    /** What the proxy is told with the handshake that is under way. @type {object[]} */
    this.waitingNotices = [];
    this.local = new LocalDecisions(this);
    /** Closes the link when the process ends; otherwise the proxy would wait until the lease is over. */
    this.onExit = () => this.exit();
    /** @type {(error?: Error) => void} */
    this.started = () => {};
    this.clearDeadline = () => {};
    /** @param {import('./process/unhooked.js').Unhooked} one */
    this.unhooked = (one) => this.tellOfUnhooked(one);
  }

  /** @returns {Promise<void>} settled by the first handshake, within 2 s */
  start() {
    return new Promise((resolve, reject) => {
      this.started = (error) => (error ? reject(error) : resolve());
      this.awaitLink();
      this.link.open();
      process.once("exit", this.onExit);
    });
  }

  /** Let requests wait for the link that is being opened. */
  awaitLink() {
    this.state = "starting";
    this.contexts.areOriginsWanted = undefined;
    this.clearDeadline = startDeadline(START_MS, () => this.down(this.error));
  }

  /** Try to connect again now, if the link is lost: a request waits for that. */
  need() {
    if (this.state === "down" && this.link.hasten()) this.awaitLink();
  }

  /** @param {any} hello the proxy's `hello:ok` */
  up(hello) {
    this.clearDeadline();
    this.local.reset();
    this.state = "up";
    this.links += 1;
    this.clientId = String(hello.clientId ?? this.clientId);
    this.bodyLimits = { ...BODY_LIMITS, ...hello.bodyLimits };
    this.hosts.setSystem(hello.ownHosts);
    this.contexts.wantOrigins({ wanted: hello.origins });
    if (this.hosts.ownServers) this.tellOfTests();
    this.isTelling = Array.isArray(hello.features) && hello.features.includes("seen-contexts");
    this.started();
    this.tellAll();
    for (const one of onUnhooked(this.unhooked)) this.tellOfUnhooked(one);
    this.sayUnheard();
    this.waiters.negotiated();
  }

  /** Say what the proxy has not heard of: an application may have swallowed these errors, and no history has them. */
  sayUnheard() {
    const { unheard } = this.waiters;
    this.waiters.unheard = 0;
    if (unheard === 0) return;
    const what = unheard === 1 ? "One request" : `${unheard} requests`;
    sayOnce(`${what} of ${this.clientId} failed before this, without the proxy, so its history lacks them.`);
  }

  /** @param {Error} error why there is no link */
  down(error) {
    this.clearDeadline();
    if (this.state === "stopped") return;
    this.state = "down";
    this.tellAll();
    this.local.reset();
    this.error = error;
    this.started(error);
    this.waiters.dropAll(error);
  }

  /** Send the last reports and close the link, because the process ends. */
  exit() {
    this.local.batch.flush();
    this.link.close();
  }

  /** Stop the agent: fail the requests that wait, and close the link. */
  stop() {
    if (this.state === "stopped") return;
    process.removeListener("exit", this.onExit);
    this.local.batch.flush();
    this.state = "stopped";
    this.clearDeadline();
    // It is dropped, and keeps the process alive no longer.
    this.tellAll();
    this.link.close();
    this.error = new TrafficMockError("stopped", "trafficmock was stopped while this request waited for a decision.");
    this.waiters.dropAll(this.error);
  }

  /** @param {string} text a message of the proxy */
  message(text) {
    const message = parse(text);
    if (!message || this.local.receive(message)) return;
    if (message.type === "origins") this.contexts.wantOrigins(message);
    else this.waiters.receive(message);
  }

  /**
   * @param {object} message for the proxy; dropped while there is no link
   * @param {number} [links] the link's number when the request was announced; dropped when it has changed
   */
  send(message, links = this.links) {
    if (this.state !== "up" || links !== this.links) return;
    // Messages keep their order: earlier reports are sent first.
    this.local.batch.flush();
    this.link.send(message);
  }

  /**
   * Tell the proxy of a library that cannot be changed.
   * @param {import('./process/unhooked.js').Unhooked} one
   */
  tellOfUnhooked({ name, file }) {
    if (this.isTelling) this.send({ type: "agent:unhooked", library: name, file });
  }

  /** Tell the proxy that tests run in this process: they may call the application themselves. */
  tellOfTests() {
    this.send({ type: "agent:tests", running: true });
  }

  /**
   * Tell the proxy once of a context that came in, because the application may answer without any request of its own.
   * @param {import('./contexts/test-contexts.js').TestContext} context
   */
  saw(context) {
    const link = this.state === "starting" ? this.links + 1 : this.links;
    if (context.reportedOn === link) return;
    context.reportedOn = link;
    this.tell({ type: "context:seen", context: context.id });
  }

  /**
   * Tell the proxy of a request to an ignored host, which strict mode may not allow.
   * @param {string} method
   * @param {URL} url
   */
  ignored(method, url) {
    if (this.hosts.isNearby(url)) return;
    this.tell({
      type: "request:ignored",
      method,
      url: url.href,
      ...contextToWire(this.contexts.current()),
    });
  }

  /** @param {object} message for a proxy that wants to be told; it waits for the handshake, as the process does then */
  tell(message) {
    if (this.state === "up" && this.isTelling) this.send(message);
    if (this.state !== "starting" || this.waitingNotices.length >= MOST_WAITING) return;
    if (this.waitingNotices.length === 0) this.keepAlive.hold();
    this.waitingNotices.push(message);
  }

  /** Tell the proxy what has waited for the handshake, or drop it, because that has failed. */
  tellAll() {
    if (this.waitingNotices.length === 0) return;
    this.keepAlive.release();
    for (const message of this.waitingNotices.splice(0)) this.tell(message);
  }

  /** @returns {boolean} whether requests are intercepted */
  get isAttached() {
    return this.state !== "stopped";
  }
}

/** @param {import('./settings.js').Settings} settings */
const helloOf = ({ token, clientId, isLocal, isContextRead }) => ({
  packageVersion: version,
  role: "node",
  clientId,
  ...(token && { token }),
  features: AGENT_FEATURES.filter((name) => (isLocal || name !== "local") && (isContextRead || !OF_CONTEXTS.has(name))),
  pid: process.pid,
  command: commandLine(process.argv),
});

module.exports = { Agent };
