"use strict";

const { dirname, join, relative } = require("node:path");
const { fileURLToPath } = require("node:url");
const { isMainThread, threadId } = require("node:worker_threads");
const { callersOf, packageOf, textOf } = require("../process/callers.js");

/** The frames that are looked at: enough for a library between the application and its timer. */
const FRAMES = 50;
/** The most characters of a text. */
const LONGEST = 200;

const QUEUES = new Set([
  "amqplib",
  "bee-queue",
  "bull",
  "bullmq",
  "graphile-worker",
  "kafkajs",
  "nats",
  "pg-boss",
  "rhea",
]);
const SCHEDULES = new Set(["agenda", "cron", "croner", "node-cron", "node-schedule", "toad-scheduler"]);

/** Node's files that emit the events of connections. */
const CONNECTIONS = new Set(["node:net", "node:internal/stream_base_commons"]);

const LOCATION = /\(?((?:file:\/\/|node:|\/|[A-Za-z]:\\).*?):(\d+):\d+\)?$/;
const NAME = /^\s*at (?:async )?(?:new )?(.+?) \(/;

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
   * @param {{ past?: Inbound, without?: Inbound | LostContext, carried?: Inbound }} found `past`: whose context does not count
   *   any more; `without`: the request without a context whose code runs; `carried`: the latest request with a context
   * @param {Function} callee is left out of the callers
   */
  constructor({ past, without, carried }, callee) {
    this.past = past;
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

  #found() {
    const frames = textOf(this.callers).split("\n").flatMap(frameOf);
    const { past, without, carried } = this;
    const inbound = without && "path" in without ? without : undefined;
    const lost = without && "kind" in without ? [without.kind, without.name] : undefined;
    const [kind, name] = past ? ["expired"] : (lost ?? sourceOf(frames, Boolean(inbound)));
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

/** @typedef {{ file: string, line: string, name: string, package: string | undefined }} Frame */

/** @param {string} line of a stack @returns {Frame[]} */
function frameOf(line) {
  const [, place, number] = LOCATION.exec(line) ?? [];
  if (!place) return [];
  const file = place.startsWith("file:") ? fileURLToPath(place) : place;
  if (file.startsWith(OWN)) return [];
  return [{ file, line: number, name: NAME.exec(line)?.[1] ?? "", package: packageOf(file) }];
}

/**
 * @param {Frame[]} frames
 * @param {boolean} isOfRequest whether it is code of an inbound request
 * @returns {[string, string?]} the kind of what runs the code that sends the request, and its name
 */
function sourceOf(frames, isOfRequest) {
  for (const { package: name } of frames) {
    if (name && QUEUES.has(name)) return ["queue", name];
    if (name && SCHEDULES.has(name)) return ["timer", name];
  }
  if (isOfRequest) return ["request"];
  if (frames.some(({ file }) => file === "node:internal/timers")) return ["timer"];
  if (isLoading(frames)) return ["main"];
  if (!isMainThread) return ["worker", `worker thread ${threadId}`];
  return connectionIn(frames) ?? ["code"];
}

/**
 * @param {Frame[]} frames
 * @returns {[string, string?] | undefined} the event of a connection that calls the application, and whose connection it is
 */
function connectionIn(frames) {
  const callers = frames.slice(frames.findIndex(isApplication) + 1);
  if (!callers.some(({ file }) => CONNECTIONS.has(file))) return undefined;
  return ["connection", callers.find((frame) => frame.package)?.package];
}

/** @param {Frame} frame */
const isApplication = ({ file, package: from }) => !from && !file.startsWith("node:");

/** @param {Frame[]} frames */
const isLoading = (frames) =>
  frames.some(({ file }) => /^node:internal\/(?:modules|main|process\/execution)/.test(file));

/**
 * @param {Frame[]} frames
 * @returns {object} the call of the application, and the client library that it called
 */
function callOf(frames) {
  let library = "node:http";
  for (const frame of frames) {
    const { file, line, name, package: from } = frame;
    if (from) library = from;
    else if (file.startsWith("node:internal/deps/undici")) library = "fetch";
    else if (isApplication(frame)) {
      const here = relative(process.cwd(), file);
      const shownFile = here.startsWith("..") ? file.split(/[\\/]/).slice(-2).join("/") : here;
      return { library, place: `${shownFile}:${line}${name && ` in ${name}`}`.slice(0, LONGEST) };
    }
  }
  return frames.length > 0 ? { library } : {};
}

/** @param {Inbound} inbound */
const shown = ({ method, path, at }) => ({ method, path: path.split("?", 1)[0].slice(0, LONGEST), at });

module.exports = { RequestOrigin };
