"use strict";

const { Bridge } = require("./bridge.js");
const { undiciOpening, httpOpening } = require("./openings.js");
const { hold } = require("../undici/closing.js");
const { loadOwn, useOwn } = require("../undici/own-dispatcher.js");
const { Chain, chains } = require("../exchange/redirects.js");

/**
 * Intercepts WebSockets: all of them, npm `ws` included, or with the setting
 * `webSocket: "global"` only those of `globalThis.WebSocket`.
 */
class WebSocketHook {
  /** @param {import('../agent.js').Agent} agent */
  constructor(agent) {
    this.agent = agent;
    this.wantsAll = agent.settings.webSocket === "all";
    /** How many constructors of `globalThis.WebSocket` are running: npm `ws` makes its request in its constructor. */
    this.constructing = 0;
    /** The original classes by their proxies. @type {WeakMap<object, any>} */
    this.originals = new WeakMap();
  }

  /**
   * Recognize the WebSockets of `globalThis.WebSocket`, whichever class it is. Imported classes of undici make
   * the same dispatches. And an application may set `globalThis.WebSocket` at any time, for example to npm `ws` on
   * Node 20.
   * @returns {() => void} undoes it
   */
  install() {
    // Reading the descriptor, or defining the property, would also load Node's own class.
    const original = loadOwn(() => globalThis.WebSocket);
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
    if (descriptor && !descriptor.configurable) return () => {};
    let current = this.marked(original);
    const get = () => {
      useOwn();
      return current;
    };
    const set = (/** @type {any} */ value) => {
      current = this.marked(value);
    };
    const shape = { enumerable: descriptor?.enumerable ?? false, configurable: true };
    Object.defineProperty(globalThis, "WebSocket", { ...shape, get, set });
    return () => {
      if (Object.getOwnPropertyDescriptor(globalThis, "WebSocket")?.get !== get) return;
      const last = this.originals.get(current) ?? current;
      if (last === undefined && !descriptor) Reflect.deleteProperty(globalThis, "WebSocket");
      else Object.defineProperty(globalThis, "WebSocket", { ...shape, value: last, writable: true });
    };
  }

  /**
   * @param {any} Original the present or new value of `globalThis.WebSocket`
   * @returns {any} a proxy of the class, whose WebSockets are recognized
   */
  marked(Original) {
    if (typeof Original !== "function" || this.originals.has(Original)) return Original;
    /** @type {any} */
    const Marked = new Proxy(Original, {
      construct: (target, args, newTarget) => this.construct(target, args, newTarget === Marked ? target : newTarget),
    });
    this.originals.set(Marked, Original);
    return Marked;
  }

  /**
   * @param {any} target
   * @param {any[]} args
   * @param {any} newTarget
   * @returns {any}
   */
  construct(target, args, newTarget) {
    if (!this.agent.isAttached) return Reflect.construct(target, args, newTarget);
    const chain = new Chain();
    chain.isGlobalSocket = true;
    this.constructing += 1;
    try {
      const socket = chains.run(chain, () => Reflect.construct(target, args, newTarget));
      chain.socket = socket;
      socket.addEventListener?.(
        "open",
        () => {
          chain.wasSocketOpen = true;
        },
        { once: true },
      );
      socket.addEventListener?.(
        "close",
        () => {
          chain.isSocketClosed = true;
        },
        { once: true },
      );
      return socket;
    } finally {
      this.constructing -= 1;
    }
  }

  /**
   * @param {any} held a dispatch of undici with an upgrade
   * @returns {boolean} whether it is held
   */
  takeDispatch(held) {
    if (held.opts.upgrade !== "websocket" || !(this.wantsAll || held.chain?.isGlobalSocket)) return false;
    /** @type {Bridge | undefined} */
    let bridge = undefined;
    let isGone = false;
    const fails = (/** @type {Error} */ error) => bridge?.inScope(() => bridge?.fail(error));
    // The dispatcher has a handshake until it is answered. An open WebSocket is not its concern.
    const release = hold(held.dispatcher, { destroyed: fails });
    const opening = undiciOpening(held, () => {
      isGone = true;
      release();
      bridge?.cancel();
    });
    // The application closed the WebSocket before its request: no bridge is needed.
    if (isGone) return true;
    bridge = new Bridge(this.agent, releasing(opening, release));
    bridge.start();
    return true;
  }

  /**
   * @param {{ req: any, url: URL, options: any, release: () => void }} held a request of `node:http` with an upgrade
   * @returns {boolean} whether it is held
   */
  takeRequest({ req, url, options, release }) {
    if (
      !(this.wantsAll || this.constructing) ||
      !/^websocket$/i.test(String(req.getHeader("upgrade") ?? "websocket"))
    ) {
      return false;
    }
    const bridge = new Bridge(
      this.agent,
      httpOpening(req, url, options, release, () => bridge.cancel()),
    );
    bridge.start();
    return true;
  }
}

/**
 * @param {import('./bridge.js').Opening} opening
 * @param {() => void} release called when it has ended
 * @returns {import('./bridge.js').Opening}
 */
const releasing = (opening, release) => ({
  ...opening,
  passthrough(outbound) {
    opening.passthrough(outbound);
    release();
  },
  accept(end) {
    release();
    opening.accept(end);
  },
  fail(error) {
    release();
    opening.fail(error);
  },
});

module.exports = { WebSocketHook };
