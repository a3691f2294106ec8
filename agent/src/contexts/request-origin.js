"use strict";

const { dirname, join, relative } = require("node:path");
const { fileURLToPath } = require("node:url");
const { isMainThread, threadId } = require("node:worker_threads");
const { callersOf, packageOf, sitesOf, textOf } = require("../process/callers.js");

/** The frames that are looked at: enough for a library between the application and its timer. */
const FRAMES = 50;
/** The most characters of a text. */
const LONGEST = 200;

const QUEUES = new Set(["amqplib", "bee-queue", "bull", "bullmq", "graphile-worker", "kafkajs", "pg-boss", "rhea"]);
const SCHEDULES = new Set(["agenda", "cron", "croner", "node-cron", "node-schedule", "toad-scheduler"]);

/** Clients whose messages come from whoever published them. */
const SUBSCRIPTIONS = new Set(["@nats-io/nats-core", "mqtt", "nats"]);

/** Node's files that emit messages, and whose these are. */
const MESSAGES = new Map([
  ["node:internal/child_process", "another process"],
  ["node:internal/per_context/messageport", "a thread or a port"],
  ["node:internal/worker", "a thread or a port"],
  ["node:internal/worker/io", "a thread or a port"],
]);

/** Why code runs without a context, where its library may be one that says more. */
const VAGUE = new Set(["connection", "message", "timer"]);

/** Node's files that emit the events of connections. */
const CONNECTIONS = new Set(["node:net", "node:internal/stream_base_commons"]);

const LOCATION = /\(?((?:file:\/\/|node:|\/|[A-Za-z]:\\).*?):(\d+):\d+\)?$/;
const FILE = /^(?:file:\/\/|node:|\/|[A-Za-z]:\\)/;
const NAME = /^(?:\s*at )?(?:async )?(?:new )?(.+?) \(/;

const WAITING = /^(?:\s*at )?async /;

const LOADING = /^node:internal\/(?:modules|main|process\/execution)/;

/** The most files that are remembered. */
const MOST_FILES = 2000;

/** The agent's own files: its sources, or the file that they are bundled into. */
const OWN = /[\\/]src$/.test(dirname(__dirname)) ? join(dirname(__dirname), "x").slice(0, -1) : __filename;

/**
 * Where a request without a context is sent from, so that people find where it was lost. The proxy only shows it.
 *
 * @typedef {object} Inbound a request that came into this process
 * @property {string} method
 * @property {string} path without the query
 * @property {number} at epoch ms
 */

/**
 * Why code runs without a context, although it was given by code that may have had one.
 *
 * @typedef {object} LostContext
 * @property {string} kind
 * @property {string} name of the library
 */

class RequestOrigin {
  /**
   * Keep the callers, which is cheap; their text is made when the request is announced.
   * @param {{ past?: Inbound, isShared?: boolean, isHandedOver?: boolean, isLoop?: boolean, mixedBy?: string, without?: Inbound | LostContext, carried?: Inbound }} found `past`: whose context does not count
   *   any more; `isShared`: because other requests have woken what works on; `isHandedOver`: because it has handed over a result before; `isLoop`: because it sends again and again from one place; `mixedBy`: because of this library; `without`: the request without a context whose code runs; `carried`: the latest request with a context
   * @param {Function} callee is left out of the callers
   */
  constructor({ past, isShared, isHandedOver, isLoop, mixedBy, without, carried }, callee) {
    this.past = past;
    this.isShared = isShared;
    this.isHandedOver = isHandedOver;
    this.isLoop = isLoop;
    this.mixedBy = mixedBy;
    this.without = without;
    this.carried = carried;
    this.callers = callersOf(callee, FRAMES);
  }

  /** @returns {object} the key `origin` of the announcement */
  toWire() {
    try {
      return this.#found();
    } catch {
      // Such as a working directory that is gone. The application's request does not fail by that.
      return {};
    }
  }

  /**
   * @param {[string, string?] | undefined} lost
   * @returns {[string, string?]} why the context does not count any more
   */
  #past(lost) {
    if (this.mixedBy) return ["unhooked", this.mixedBy];
    if (this.isHandedOver) return lost?.[0] === "timer" ? lost : ["handed-over"];
    if (this.isLoop) return ["loop"];
    return [this.isShared ? "woken" : "expired"];
  }

  #found() {
    const frames = framesOf(this.callers);
    const { past, without, carried } = this;
    const inbound = without && "path" in without ? without : undefined;
    /** @type {[string, string?] | undefined} */
    const known = without && "kind" in without ? [without.kind, without.name] : undefined;
    const lost = (VAGUE.has(known?.[0] ?? "") && libraryIn(frames)) || known;
    const [kind, name] = past ? this.#past(lost) : (lost ?? sourceOf(frames, Boolean(inbound)));
    const came = past ?? (kind === "request" ? inbound : undefined);
    return {
      kind,
      ...(name && { name }),
      ...(kind === "main" && isLoading(frames) && { atImport: true }),
      ...callOf(frames),
      ...(came && { inbound: shown(came) }),
      ...(carried && { carried: shown(carried) }),
    };
  }
}

/**
 * What the file of a caller says, which is found once.
 *
 * @typedef {object} File
 * @property {string} path
 * @property {string} shown
 * @property {string | undefined} package
 * @property {boolean} isApplication
 * @property {boolean} isTimer
 * @property {boolean} isLoading
 * @property {string | undefined} message whose messages it emits
 * @property {boolean} isConnection
 * @property {boolean} isFetch
 *
 * A caller, with its line of the stack, which is made only of the one that is shown.
 * @typedef {{ of: File, line: { toString(): string } }} Frame
 */

/** By the names that V8 has for them; nothing for the agent's own, and for code that is in no file. @type {Map<string, File | undefined>} */
const files = new Map();

/**
 * @param {{ stack?: string }} callers
 * @returns {Frame[]} those in files, without the agent's own
 */
function framesOf(callers) {
  const frames = [];
  const sites = sitesOf(callers);
  for (const line of sites ?? textOf(callers).split("\n")) {
    const name = typeof line === "string" ? LOCATION.exec(line)?.[1] : line.getFileName();
    const of = name ? fileOf(name) : undefined;
    if (of) frames.push({ of, line });
  }
  return frames;
}

/** @param {string} name */
function fileOf(name) {
  if (files.has(name)) return files.get(name);
  const found = readFile(name);
  if (files.size < MOST_FILES) files.set(name, found);
  return found;
}

/** @param {string} name @returns {File | undefined} */
function readFile(name) {
  const path = name.startsWith("file:") ? fileURLToPath(name) : name;
  if (!FILE.test(path) || path.startsWith(OWN)) return undefined;
  const here = relative(process.cwd(), path);
  const from = packageOf(path);
  return {
    path,
    shown: here.startsWith("..") ? path.split(/[\\/]/).slice(-2).join("/") : here,
    package: from,
    isApplication: !from && !path.startsWith("node:"),
    isTimer: path === "node:internal/timers",
    isLoading: LOADING.test(path),
    message: MESSAGES.get(path),
    isConnection: CONNECTIONS.has(path),
    isFetch: path.startsWith("node:internal/deps/undici"),
  };
}

/**
 * @param {Frame[]} frames
 * @param {boolean} isOfRequest whether it is code of an inbound request
 * @returns {[string, string?]} the kind of what runs the code that sends the request, and its name
 */
function sourceOf(frames, isOfRequest) {
  const library = libraryIn(frames);
  if (library) return library;
  if (isOfRequest) return ["request"];
  if (frames.some(({ of }) => of.isTimer)) return ["timer"];
  if (!isMainThread) return ["worker", `worker thread ${threadId}`];
  if (isLoading(frames)) return ["main"];
  const message = frames.find(({ of }) => of.message)?.of.message;
  if (message) return ["message", message];
  return connectionIn(frames) ?? ["code"];
}

/**
 * @param {Frame[]} frames
 * @returns {[string, string] | undefined} the kind of library that calls the code, and its name
 */
function libraryIn(frames) {
  for (const { of } of frames) {
    const name = of.package;
    if (name && QUEUES.has(name)) return ["queue", name];
    if (name && SCHEDULES.has(name)) return ["timer", name];
    if (name && SUBSCRIPTIONS.has(name)) return ["message", name];
  }
  return undefined;
}

/**
 * @param {Frame[]} frames
 * @returns {[string, string?] | undefined} the event of a connection that calls the application, and whose connection it is
 */
function connectionIn(frames) {
  const callers = frames.slice(frames.findIndex(({ of }) => of.isApplication) + 1);
  if (!callers.some(({ of }) => of.isConnection)) return undefined;
  return ["connection", callers.find(({ of }) => of.package)?.of.package];
}

/**
 * @param {{ stack?: string }} callers whose text was not read yet
 * @returns {{ line: string, isWaiting: boolean }[]} the lines of the application among them, the outermost last, and
 *   whether the function waits there for the others
 */
function placesIn(callers) {
  return framesOf(callers)
    .filter(({ of }) => of.isApplication)
    .map(({ of, line }) => {
      const text = String(line);
      return { line: `${of.path}:${LOCATION.exec(text)?.[2]}`, isWaiting: WAITING.test(text) };
    });
}

/** @param {Frame[]} frames */
const isLoading = (frames) => frames.some(({ of }) => of.isLoading);

/**
 * @param {Frame[]} frames
 * @returns {object} the call of the application, and the client library that it called
 */
function callOf(frames) {
  let library = "node:http";
  for (const { of, line } of frames) {
    if (of.package) library = of.package;
    else if (of.isFetch) library = "fetch";
    else if (of.isApplication) {
      const text = String(line);
      const [, , number] = LOCATION.exec(text) ?? [];
      const name = NAME.exec(text)?.[1];
      return { library, place: `${of.shown}:${number}${name ? ` in ${name}` : ""}`.slice(0, LONGEST) };
    }
  }
  return frames.length > 0 ? { library } : {};
}

/** @param {Inbound} inbound */
const shown = ({ method, path, at }) => ({ method, path: path.split("?", 1)[0].slice(0, LONGEST), at });

module.exports = { FRAMES, RequestOrigin, placesIn };
