"use strict";

const { hostOf } = require("../hosts.js");
const { HeldConnection, mayRefuse } = require("./held-connection.js");
const { MockSocket } = require("./mock-socket.js");
const { onSocket } = require("./on-socket.js");
const { tellOfTunnel } = require("./passed-connection.js");

/** How many functions that send a request run now: an agent opens its tunnel for a request that has been decided. */
let sending = 0;

/**
 * The servers of the requests that such agents have been given, until they have a connection: a pool opens a tunnel when another
 * one has ended, and some agents when they have waited.
 * @type {Map<any, string>}
 */
const unconnected = new Map();

/**
 * Begin to send a request: the tunnel that its agent opens for it is not judged again. The caller ends it by `endSending`. It
 * calls the agent itself: classes that read the stack, of which Node keeps ten functions, find no more there than without us.
 * @param {any} req
 * @param {URL | undefined} server of the request, if its agent opens connections in its own way
 */
function beginSending(req, server) {
  if (server) {
    unconnected.set(req, hostOf(server));
    const isConnected = () => unconnected.delete(req);
    req.once("socket", isConnected).once("close", isConnected);
  }
  sending += 1;
}

function endSending() {
  sending -= 1;
}

/** @param {URL} url the target of a tunnel @returns {boolean} whether an agent opens it for a request */
const isOfRequest = (url) => sending > 0 || [...unconnected.values()].includes(hostOf(url));

/** A request `CONNECT` of the application itself, about whose target strict mode decides. */
class HeldTunnel extends HeldConnection {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {URL} url of the target
   * @param {any} req
   * @param {() => void} release lets the request be sent
   */
  constructor(agent, url, req, release) {
    super(agent, url);
    this.req = req;
    this.send = release;
    req.once("close", () => this.settle());
    this.enter();
  }

  release() {
    this.send();
  }

  /** @param {Error} error */
  fail(error) {
    this.req.destroy(error);
    // A request emits `error` and `close` only with a socket.
    onSocket.call(this.req, new MockSocket(false));
  }
}

/**
 * Hold a request `CONNECT`, if strict mode may refuse it.
 * @param {import('../agent.js').Agent} agent
 * @param {any} req
 * @param {URL} peer that it connects to
 * @param {() => void} release
 * @returns {boolean} whether it is held
 */
function holdTunnel(agent, req, peer, release) {
  const target = `https://${req.path}`;
  if (agent.hosts.isProxy(peer) || !URL.canParse(target)) return false;
  const url = new URL(target);
  if (isOfRequest(url)) return false;
  if (agent.hosts.isIgnored(url)) {
    agent.ignored(req.method, url);
    return false;
  }
  if (!mayRefuse(agent)) {
    tellOfTunnel(agent, url);
    return false;
  }
  void new HeldTunnel(agent, url, req, release);
  return true;
}

module.exports = { beginSending, endSending, holdTunnel };
