"use strict";

const { isIP } = require("node:net");
const { stringify } = require("node:querystring");
const { internal } = require("../process/internals.js");
const headers = require("../protocol/headers.js");
const { pathOf } = require("../http/text.js");
const { isSocketUrl } = require("../http/unix-sockets.js");
const { isSameOrigin } = require("../exchange/redirects.js");

/** Reads undici's dispatch options, and changes them. */

/** Hop-by-hop headers that undici sets itself, and refuses in its options. */
const REFUSED = new Set(["transfer-encoding", "keep-alive", "upgrade", "expect"]);
/** What undici takes for the header `connection`. */
const CONNECTION = /^(close|keep-alive)$/i;

/** Dispatchers for one origin. */
const ONE_ORIGIN = new Set(["Client", "Pool", "BalancedPool", "RoundRobinPool", "H2CClient", "MockClient", "MockPool"]);

/**
 * @param {any} dispatcher
 * @param {any} opts
 * @param {import('../hosts.js').Hosts} hosts
 * @returns {URL | undefined} `undefined` if it is not an HTTP request
 */
function urlOf(dispatcher, opts, hosts) {
  // A client of one origin ignores a path in it: `path` is whole.
  const [origin] = /^[^:]*:\/\/[^/?#]*/.exec(String(opts.origin ?? internal(dispatcher, "url"))) ?? [""];
  const path = typeof opts.path === "string" ? opts.path : "/";
  const isNamed = /^https?:\/\//.test(path);
  const full = isNamed ? path : `${origin}${path}`;
  if (!URL.canParse(full)) return undefined;
  const url = isNamed && URL.canParse(origin) ? hosts.counted(new URL(full), new URL(origin)) : new URL(full);
  if (opts.query) url.search = stringify(opts.query);
  return /^https?:$/.test(url.protocol) ? url : undefined;
}

/**
 * The host names of dispatches in which the DNS interceptor has put an address, by handler: the
 * second attempt of undici 6 does not have the name any more.
 * @type {WeakMap<object, string>}
 */
const names = new WeakMap();

/**
 * Restore the host name of a dispatch. undici's DNS interceptor replaces it by an address above
 * `dispatch`, and leaves the name in `servername` and in the header `host`.
 * @param {URL} url of the dispatch
 * @param {any} opts
 * @param {object} handler
 * @returns {URL} the URL that the application requested; `url` itself if no name is known
 */
function namedUrl(url, opts, handler) {
  if (!isIP(bare(url.hostname))) return url;
  const { servername } = opts;
  const host = servername ? headers.get(pairsOf(opts.headers), "host")?.toLowerCase() : undefined;
  const isByName = host && host.replace(/:\d+$/, "") === servername && !isIP(bare(servername));
  // undici 6 omits the port from the header, even if it is not the default one.
  if (isByName) names.set(handler, host.includes(":") ? host : `${host}${url.port && `:${url.port}`}`);
  const name = names.get(handler);
  return name && URL.canParse(`${url.protocol}//${name}`)
    ? new URL(`${url.protocol}//${name}${url.pathname}${url.search}`)
    : url;
}

/** @param {string} hostname of a URL */
const bare = (hostname) => hostname.replace(/^\[|\]$/g, "");

/**
 * @param {any} given `opts.headers`, in any form undici takes
 * @returns {import('../protocol/headers.js').Pairs}
 */
function pairsOf(given) {
  /** @type {import('../protocol/headers.js').Pairs} */
  const pairs = [];
  const add = (/** @type {any} */ name, /** @type {any} */ value) => {
    if (value == null) return;
    for (const one of Array.isArray(value) ? value : [value]) pairs.push([latin1(name), latin1(one)]);
  };
  if (Array.isArray(given)) for (let i = 0; i + 1 < given.length; i += 2) add(given[i], given[i + 1]);
  else if (typeof given?.[Symbol.iterator] === "function") for (const [name, value] of given) add(name, value);
  else for (const [name, value] of Object.entries(given ?? {})) add(name, value);
  return pairs;
}

/** @param {any} value */
const latin1 = (value) => (Buffer.isBuffer(value) ? value.toString("latin1") : String(value));

/**
 * Write headers in the form of the given ones, because the DNS interceptor of undici 6 adds a header only to an object.
 * @param {any} given `opts.headers`, in any form undici takes
 * @param {import('../protocol/headers.js').Pairs} pairs
 * @returns {string[] | Record<string, string | string[]>} a list if a list was given, else an object
 */
function likeGiven(given, pairs) {
  if (Array.isArray(given)) return pairs.flat();
  /** @type {Map<string, [string, string | string[]]>} */
  const lines = new Map();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const known = lines.get(key);
    lines.set(key, known ? [known[0], [known[1], value].flat()] : [name, value]);
  }
  return Object.fromEntries(lines.values());
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {any} opts
 * @param {URL} url of the dispatch
 * @param {import('../contexts/test-contexts.js').TestContext | undefined} context of the request
 * @returns {any} the options with the headers to send to that host
 */
function outboundOptions(agent, opts, url, context) {
  const given = pairsOf(opts.headers);
  const pairs = agent.contexts.outbound(url, given, context);
  return pairs === given ? opts : { ...opts, headers: likeGiven(opts.headers, pairs) };
}

/**
 * Make the options for another request in the place of the one of `opts`.
 * @param {any} opts
 * @param {import('../protocol/messages.js').Outgoing} wanted the request to send
 * @param {URL} from the URL that the application requested
 * @param {boolean} isResolved whether `opts` have an address in the place of the host of `from`
 * @param {boolean} isStreamed whether the body is sent in chunks, if no length is declared
 */
function optionsFor(opts, wanted, from, isResolved, isStreamed) {
  const url = new URL(wanted.url);
  const isThere = isSameOrigin(url, from);
  let pairs = wanted.pairs.filter(([name, value]) =>
    /^connection$/i.test(name) ? CONNECTION.test(value) : !REFUSED.has(name.toLowerCase()),
  );
  // The path of an unchanged URL is sent as the application wrote it: a signature may cover each byte.
  const isSame = isThere && wanted.url === from.href && String(opts.path).startsWith("/");
  const { body } = wanted;
  const isChunked = isStreamed && headers.get(pairs, "content-length") === undefined;
  if (isResolved && isThere && !headers.get(pairs, "host")) pairs = [...pairs, ["host", url.host]];
  return {
    ...opts,
    origin: (isResolved || isSocketUrl(from)) && isThere ? opts.origin : url.origin,
    servername: isThere ? opts.servername : undefined,
    path: isSame ? opts.path : pathOf(url),
    query: isSame ? opts.query : undefined,
    // Announced in capitals. A method is a token with a case of its own (RFC 9110, section 9.1).
    method: wanted.method === String(opts.method).toUpperCase() ? opts.method : wanted.method,
    headers: likeGiven(opts.headers, pairs),
    body: body?.length ? (isChunked ? streamed(body) : body) : null,
  };
}

/** @param {Buffer} body */
async function* streamed(body) {
  yield body;
}

/**
 * @param {any} dispatcher
 * @param {URL} from
 * @param {URL} to
 * @returns {any} a dispatcher that can reach `to`
 */
function dispatcherFor(dispatcher, from, to) {
  const isFixed = ONE_ORIGIN.has(dispatcher.constructor?.name);
  return isFixed && !isSameOrigin(from, to) ? globalDispatcher() : dispatcher;
}

const globalDispatcher = () => {
  const known = /** @type {any} */ (globalThis);
  return known[Symbol.for("undici.globalDispatcher.1")] ?? known[Symbol.for("undici.globalDispatcher.2")];
};

/** The sockets in the file system that clients connect to, which do not keep their options. @type {WeakMap<object, string>} */
const locals = new WeakMap();

/** @param {any} options of a dispatcher @returns {string | undefined} the path of the socket that it connects to */
const fileOf = (options) => options?.connect?.socketPath ?? options?.socketPath ?? undefined;

/**
 * @param {any} Client of a copy of undici
 * @returns {any} the class, which notes those of its instances that connect to a socket in the file system
 */
function notingLocal(Client) {
  const Noting = new Proxy(Client, {
    /** @returns {any} */
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget === Noting ? target : newTarget);
      const file = fileOf(args[1]);
      if (file) locals.set(made, file);
      return made;
    },
  });
  return Noting;
}

/**
 * @param {any} dispatcher
 * @returns {string | undefined} the path of the socket in the file system that it connects to, whatever host a request names
 */
function localPath(dispatcher) {
  return locals.get(dispatcher) ?? fileOf(internal(dispatcher, "options"));
}

module.exports = {
  localPath,
  notingLocal,
  urlOf,
  namedUrl,
  pairsOf,
  likeGiven,
  optionsFor,
  dispatcherFor,
  outboundOptions,
};
