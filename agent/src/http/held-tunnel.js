"use strict";

const { HeldConnection, mayRefuse } = require("./held-connection.js");
const { MockSocket } = require("./mock-socket.js");
const { onSocket } = require("./on-socket.js");

/** How many functions that send a request run now: an agent opens its tunnel for a request that has been decided. */
let sending = 0;

/**
 * Call what sends a request: the tunnel that its agent opens for it is not judged again.
 * @template R
 * @param {() => R} send
 * @returns {R}
 */
function inRequest(send) {
  sending += 1;
  try {
    return send();
  } finally {
    sending -= 1;
  }
}

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
  if (sending || agent.hosts.isProxy(peer) || !URL.canParse(target)) return false;
  const url = new URL(target);
  if (agent.hosts.isIgnored(url)) {
    agent.ignored(req.method, url);
    return false;
  }
  if (!mayRefuse(agent)) return false;
  void new HeldTunnel(agent, url, req, release);
  return true;
}

module.exports = { holdTunnel, inRequest };
