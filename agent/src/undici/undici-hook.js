"use strict";

const { isBypassed } = require("../bypass.js");
const { Chain, chains } = require("../exchange/redirects.js");
const { callersOf } = require("../process/callers.js");
const { outer, realms } = require("../process/realm.js");
const { onContext } = require("../process/vm-contexts.js");
const { sayOnce } = require("../process/say-once.js");
const { noteVersion, onBundled, onDispatcher } = require("./dispatchers.js");
const { GLOBALS, onUse, settleOwn, isOwnReading } = require("./own-dispatcher.js");
const { internal } = require("../process/internals.js");
const { isNamed, socketUrl, whenKnown } = require("../http/unix-sockets.js");
const { localPath, notingLocal, urlOf, namedUrl, outboundOptions } = require("./dispatch-options.js");
const { fail } = require("./handlers.js");
const { HeldDispatch, SEEN, chainOf } = require("./held-dispatch.js");
const { admit, baseOf, heldOf, hold, hookClosing, isClosed, unhookClosing } = require("./closing.js");

const HOOKED = Symbol("trafficmock.hooked");
const ORIGINAL = Symbol("trafficmock.original");

/**
 * Intercepts undici: Node's own, which `fetch` uses, and all copies from npm. The dispatchers of
 * a copy share a few `dispatch` methods, so custom dispatchers are intercepted as well.
 */
class UndiciHook {
  /** @param {import('../agent.js').Agent} agent */
  constructor(agent) {
    this.agent = agent;
    /** @type {(() => void)[]} */
    this.undo = [];
    /** Returns whether the handshake of a WebSocket is held; by default it is not. @type {(held: any) => boolean} */
    this.upgrade = () => false;
    /** The redirect interceptor of undici 6, for `maxRedirections`. @type {Function | undefined} */
    this.redirecting = undefined;
    /** Whether the construction of dispatchers is observed. */
    this.isAttending = false;
    /** The URLs of requests to ignored hosts, by handler. @type {WeakMap<object, string>} */
    this.ignored = new WeakMap();
    /** The classes whose `close` and `destroy` are hooked, by their prototypes. @type {WeakSet<object>} */
    this.bases = new WeakSet();
    /** The prototypes of all dispatchers of the copies of undici whose dispatchers are hooked. @type {WeakSet<object>} */
    this.copies = new WeakSet();
  }

  /** Hook the global dispatchers, now or when they are set, and `fetch`. */
  install() {
    for (const realm of realms()) this.undo.push(...this.expectAll(realm));
    this.undo.push(onUse(() => this.hookOwn()));
    this.hookFetch(globalThis, true);
    if (globalThis !== outer) this.attendDispatchers();
    else {
      this.undo.push(
        onContext((realm) => this.enter(realm)),
        onBundled(() => this.attendDispatchers()),
      );
    }
  }

  /**
   * Hook the dispatchers of a context of `node:vm`. No reference is kept, so that the context can be collected.
   * @param {typeof globalThis} realm its global object
   */
  enter(realm) {
    if (!this.agent.isAttached) return;
    this.expectAll(realm);
    this.attendDispatchers();
  }

  /** Hook every class of dispatchers, because copies of undici may be loaded without `require` from now on. */
  attendDispatchers() {
    if (this.isAttending) return;
    this.isAttending = true;
    this.undo.push(onDispatcher((dispatcher) => this.hook(dispatcher)));
  }

  /**
   * @param {typeof globalThis} realm its global object
   * @returns {(() => void)[]} what undoes it
   */
  expectAll(realm) {
    this.hookGlobals(realm);
    return GLOBALS.map((symbol) => this.expect(realm, symbol));
  }

  /**
   * Hook a global dispatcher when a copy of undici sets it. Every copy, even one that is bundled into the
   * application, looks it up while it loads, and sets its own if there is none. So Node's own undici must not
   * be loaded here: it would set its own first.
   * @param {typeof globalThis} realm its global object
   * @param {symbol} symbol
   */
  expect(realm, symbol) {
    if (Object.hasOwn(realm, symbol)) return () => {};
    const look = () => {
      if (isOwnReading(symbol)) {
        this.hookOwn();
        return Object.getOwnPropertyDescriptor(realm, symbol)?.value;
      }
      void Promise.resolve().then(() => this.hookGlobals(realm));
      return undefined;
    };
    Object.defineProperty(realm, symbol, { get: look, configurable: true, enumerable: false });
    return () => {
      if (Object.getOwnPropertyDescriptor(realm, symbol)?.get === look) Reflect.deleteProperty(realm, symbol);
    };
  }

  /** @param {typeof globalThis} realm its global object */
  hookGlobals(realm) {
    // The descriptor's value, because the getter of `expect` would call this method again.
    for (const symbol of GLOBALS) this.hook(Object.getOwnPropertyDescriptor(realm, symbol)?.value);
  }

  /** Hook the dispatchers of Node's own undici, which is loaded by reading `Response`. */
  hookOwn() {
    void outer.Response;
    settleOwn();
    for (const realm of realms()) this.hookGlobals(realm);
  }

  /**
   * Hook a copy of undici from npm.
   * @param {any} undici the exports of a module that may be undici
   */
  hookModule(undici) {
    const { Agent, Client, MockAgent, ProxyAgent, createRedirectInterceptor } = undici;
    if (!Agent || !MockAgent || !ProxyAgent) return;
    noteVersion(undici);
    if (Client && Object.getOwnPropertyDescriptor(undici, "Client")?.writable) undici.Client = notingLocal(Client);
    this.redirecting ??= createRedirectInterceptor;
    for (const { prototype } of [Agent, MockAgent, ProxyAgent]) this.hook(prototype);
    this.hookGlobals(globalThis);
    this.hookFetch(undici);
  }

  /**
   * Hook the method `dispatch` of a dispatcher's class.
   * @param {any} dispatcher or the prototype of a class
   */
  hook(dispatcher) {
    if (dispatcher && isChooser(dispatcher)) {
      for (const kind of ["http proxy agent", "https proxy agent"]) this.hook(internal(dispatcher, kind));
    }
    this.hookClosing(dispatcher);
    let owner = dispatcher;
    while (owner && !Object.hasOwn(owner, "dispatch")) owner = Object.getPrototypeOf(owner);
    const original = owner?.dispatch;
    if (typeof original !== "function" || original[HOOKED] === this.agent) return;
    const { agent } = this;
    const take = this.take.bind(this);
    /** @this {any} */
    const dispatch = function (/** @type {any} */ opts, /** @type {any} */ handler) {
      return take(this, original, opts, handler) ?? original.call(this, opts, handler);
    };
    owner.dispatch = Object.assign(dispatch, { [HOOKED]: agent, [ORIGINAL]: original });
    // A weak reference, because a test runner makes and drops many contexts in one process.
    const weak = new WeakRef(owner);
    this.undo.push(() => {
      const left = weak.deref();
      if (left?.dispatch[HOOKED] === agent) left.dispatch = left.dispatch[ORIGINAL];
    });
  }

  /** @param {any} dispatcher or the prototype of a class */
  hookClosing(dispatcher) {
    const base = dispatcher && baseOf(dispatcher);
    if (!base || this.bases.has(base)) return;
    this.bases.add(base);
    this.copies.add(Object.getPrototypeOf(base));
    hookClosing(base);
    const weak = new WeakRef(base);
    this.undo.push(() => {
      const left = weak.deref();
      if (left) unhookClosing(left);
    });
  }

  /**
   * @param {any} dispatcher
   * @param {Function} original
   * @param {any} opts
   * @param {any} handler
   * @returns {boolean | undefined} of a request that is held, redirected or passed on with other headers, whether the
   *   dispatcher takes another one (`false` if it is busy); else `undefined`: the caller calls `original`
   */
  take(dispatcher, original, opts, handler) {
    const { agent } = this;
    if (!agent.isAttached || !opts || !isHandler(handler)) return undefined;
    const direct = directOf(agent, dispatcher);
    if (direct) return direct.dispatch(opts, handler) ?? true;
    if (isBypassed() || opts[SEEN] || opts.method === "CONNECT" || this.handsOn(dispatcher)) return undefined;
    if (isClosed(dispatcher)) return this.refuse(dispatcher, opts, handler);
    if (this.redirect(dispatcher, opts, handler)) return true;
    const asked = urlOf(dispatcher, opts, agent.hosts);
    if (!asked) return undefined;
    const passOn = (
      /** @type {URL} */ to,
      /** @type {import('../contexts/test-contexts.js').TestContext | undefined} */ context,
    ) => original.call(dispatcher, outboundOptions(agent, opts, to, context), handler) ?? true;
    const url = namedUrl(asked, opts, handler);
    const file = localPath(dispatcher);
    if (file) return this.takeLocal(dispatcher, original, opts, handler, url, file);
    if (agent.hosts.isOwnServer(url)) return passOn(url, agent.contexts.current());
    if (agent.hosts.isIgnored(asked) || agent.hosts.isIgnored(url)) {
      this.ignore(opts, handler, url);
      return passOn(url, undefined);
    }
    const chain = chainOf.get(handler) ?? chains.getStore();
    if (opts.upgrade === "websocket") {
      const held = { dispatcher, original, opts, handler, url, seen: SEEN, chain };
      return this.upgrade(held) || passOn(url, agent.contexts.current());
    }
    if (!chain?.leadsTo(url.href)) agent.contexts.loops.sends(this.take);
    return new HeldDispatch(agent, dispatcher, original, opts, handler, url, url !== asked, chain).start();
  }

  /**
   * @param {any} dispatcher
   * @returns {boolean} whether it only gives its requests to other dispatchers, which are hooked. They are held there, because
   *   the application closes these.
   */
  handsOn(dispatcher) {
    if (isChooser(dispatcher)) return true;
    if (!WRAPPERS.has(dispatcher.constructor?.name)) return false;
    return this.copies.has(Object.getPrototypeOf(Object.getPrototypeOf(dispatcher)));
  }

  /**
   * Refuse a request to a dispatcher that is closed. undici does it, but a `ProxyAgent` leaves it to those that it closes, which
   * are still open while requests are held.
   * @param {any} dispatcher
   * @param {any} opts
   * @param {any} handler
   * @returns {boolean | undefined} as of {@link take}
   */
  refuse(dispatcher, opts, handler) {
    const base = baseOf(dispatcher);
    if (!heldOf(dispatcher)?.isClosing || dispatcher.dispatch === base.dispatch) return undefined;
    return base.dispatch.call(dispatcher, { ...opts, [SEEN]: true }, handler);
  }

  /**
   * Hold a request to a UNIX socket, if a route names it. All others pass unseen.
   * @param {any} dispatcher
   * @param {Function} original
   * @param {any} opts
   * @param {any} handler
   * @param {URL} named by the request
   * @param {string} file the path of the socket
   * @returns {boolean} as of {@link take}
   */
  takeLocal(dispatcher, original, opts, handler, named, file) {
    const { agent } = this;
    const isSeen = named.protocol === "http:" && !opts.upgrade;
    const url = isSeen ? socketUrl(file, `${named.pathname}${named.search}`) : undefined;
    const chain = chainOf.get(handler) ?? chains.getStore();
    const act = (/** @type {boolean} */ isWanted) => {
      if (url && isWanted) {
        return new HeldDispatch(agent, dispatcher, original, opts, handler, url, false, chain).start();
      }
      // Marked, because the dispatchers below this one do not tell.
      const marked = { ...outboundOptions(agent, opts, named, undefined), [SEEN]: true };
      return admit(dispatcher, original, marked, handler) ?? true;
    };
    const isKnown = url ? isNamed(agent, url) : false;
    if (!url || isKnown !== undefined) return act(isKnown === true);
    let isDestroyed = false;
    const request = {
      destroyed: (/** @type {Error} */ error) => {
        isDestroyed = true;
        fail(handler, undefined, error);
        release();
      },
    };
    const release = hold(dispatcher, request);
    whenKnown(agent, url, (isWanted) => {
      try {
        if (!isDestroyed) act(isWanted);
      } finally {
        release();
      }
    });
    return true;
  }

  /**
   * Tell of a request to an ignored host, once: a dispatcher may hand it to another one.
   * @param {any} opts
   * @param {object} handler
   * @param {URL} url
   */
  ignore(opts, handler, url) {
    if (this.ignored.get(handler) === url.href) return;
    this.ignored.set(handler, url.href);
    this.agent.ignored(opts.method ?? "GET", url);
  }

  /**
   * Follow redirects by undici 6's interceptor. With `maxRedirections`, undici 6 follows them below
   * `dispatch`, where the hops would not be intercepted.
   * @param {any} dispatcher
   * @param {any} opts
   * @param {any} handler
   * @returns {boolean} whether the request is dispatched
   */
  redirect(dispatcher, opts, handler) {
    if (!this.redirecting) {
      if (opts.maxRedirections > 0) {
        sayOnce(
          "redirects that undici 6 follows by maxRedirections are not seen here, in a test runner's context: use interceptors.redirect().",
        );
      }
      return false;
    }
    const most = opts.maxRedirections ?? internal(dispatcher, "maxRedirections");
    if (!most) return false;
    const dispatch = (/** @type {any} */ hop, /** @type {any} */ its) =>
      dispatcher.dispatch({ ...hop, maxRedirections: 0 }, its);
    this.redirecting({ maxRedirections: most })(dispatch)(opts, handler);
    return true;
  }

  /**
   * @param {any} owner
   * @param {boolean} [isGlobal]
   */
  hookFetch(owner, isGlobal) {
    if (typeof owner.fetch === "function") this.hookCall(owner, "fetch", isGlobal);
  }

  /**
   * Run every call of a function in a chain of its own, so that its redirects are recognized.
   * @param {any} owner
   * @param {string} name
   * @param {boolean} [isGlobal]
   */
  hookCall(owner, name, isGlobal) {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    if (!descriptor?.configurable && !descriptor?.writable) return;
    const original = owner[name];
    const hook = this;
    const call = {
      [name]: function (/** @type {any[]} */ ...args) {
        if (!hook.agent.isAttached) return original.apply(this, args);
        if (isGlobal) hook.hookOwn();
        hook.hook(args[1]?.dispatcher);
        const callers = hook.agent.local.mayRefuse ? callersOf(call) : undefined;
        return chains.run(new Chain(callers), () => original.apply(this, args));
      },
    }[name];
    Object.defineProperty(owner, name, valueOf(call, descriptor));
    this.undo.push(() => {
      if (owner[name] === call) Object.defineProperty(owner, name, descriptor);
    });
  }

  uninstall() {
    settleOwn(false);
    for (const act of this.undo.splice(0).reverse()) act();
  }
}

/**
 * @param {Function} value
 * @param {PropertyDescriptor} descriptor
 */
function valueOf(value, descriptor) {
  const { configurable, enumerable } = descriptor;
  return { value, writable: true, configurable, enumerable };
}

/** @type {WeakMap<object, any>} */
const straights = new WeakMap();

/**
 * Find a direct dispatcher in the place of one that uses trafficmock's own forward proxy, which
 * would announce each request a second time.
 * @param {import('../agent.js').Agent} agent
 * @param {any} dispatcher
 * @returns {any} a dispatcher of the same copy of undici; `undefined` if it does not use trafficmock's proxy
 */
function directOf(agent, dispatcher) {
  if (dispatcher.constructor?.name !== "ProxyAgent") return undefined;
  if (!straights.has(dispatcher)) {
    const isOurs = agent.hosts.isProxyText(internal(dispatcher, "proxy agent options")?.uri);
    const Agent = internal(dispatcher, "proxy agent")?.constructor;
    straights.set(
      dispatcher,
      isOurs && Agent ? new Agent({ connect: internal(dispatcher, "request tls settings") }) : undefined,
    );
  }
  return straights.get(dispatcher);
}

/** Classes of dispatchers that hand each request on to one dispatcher, which they are given. */
const WRAPPERS = new Set(["RetryAgent", "ComposedDispatcher", "Dispatcher1Wrapper"]);

/**
 * @param {any} dispatcher
 * @returns {boolean} whether it only chooses another dispatcher, by `HTTP_PROXY` and similar variables
 */
const isChooser = (dispatcher) => dispatcher.constructor?.name === "EnvHttpProxyAgent";

/**
 * @param {any} handler
 * @returns {boolean} whether undici takes it; for another one `dispatch` throws an error
 */
function isHandler(handler) {
  if (!handler || typeof handler !== "object") return false;
  const has = (/** @type {string} */ name) => typeof handler[name] === "function";
  return has("onRequestStart") || (has("onConnect") && has("onError"));
}

module.exports = { UndiciHook };
