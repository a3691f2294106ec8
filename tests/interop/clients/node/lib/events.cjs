"use strict";

/*
 * Loaded before all else: notes what an application hears of its requests of node:http, in order. That is what reaches
 * listeners, so it is noted where Node calls them, below whatever else is laid over a request. Requests that the
 * application did not make itself, and the sockets that it never sees, are not noted.
 */
const { EventEmitter } = require("node:events");
const http = require("node:http");
const https = require("node:https");
const { syncBuiltinESMExports } = require("node:module");

/** Of other events, such as `data` of a socket and `drain`, number and place depend on the time. */
const NOTED = {
  request: "socket finish information continue response upgrade connect timeout abort error close".split(" "),
  socket: "lookup connect ready secureConnect timeout error close".split(" "),
  response: "data end aborted error close".split(" "),
};

const { emit } = EventEmitter.prototype;
/** Whose events are noted, by the object that emits them. */
const known = new WeakMap();
const records = [];

function note(of, emitter, event, args) {
  const { record, kind } = of;
  if (!NOTED[kind].includes(event)) return;
  // A connection that is kept tells of other requests then.
  if (record.isClosed && kind === "socket") return;
  const [given] = args;
  let line = `${kind} ${event}`;
  if (event === "socket") {
    known.set(given, { record, kind: "socket" });
    line += given.connecting ? ": connecting" : ": open";
  } else if (event === "response" || event === "upgrade") {
    known.set(given, { record, kind: "response" });
    line += ` ${given.statusCode}`;
  } else if (event === "information") line += ` ${given.statusCode}`;
  else if (event === "error") line += ` ${given?.code ?? given?.message}`;
  if (kind === "request" && event === "close") record.isClosed = true;
  // Whether what was written before is sent between these two events depends on the network.
  const after = line === "socket ready" ? record.lines.lastIndexOf("socket connect") + 1 : 0;
  if (after) {
    record.lines.splice(after, 0, line);
    return;
  }
  // A body comes in as many pieces as the network likes.
  if (line !== "response data" || record.lines.at(-1) !== line) record.lines.push(line);
}

EventEmitter.prototype.emit = function (event, ...args) {
  const of = known.get(this);
  if (of) note(of, this, event, args);
  return emit.call(this, event, ...args);
};

for (const module of [http, https]) {
  for (const name of ["request", "get"]) {
    const original = module[name];
    // A name of its own, as Node's has: libraries read the stack.
    module[name] = {
      [name](...args) {
        const request = original.apply(this, args);
        // `get` calls `request` by another way, so nothing is noted twice.
        if (request && !known.has(request)) {
          const record = { lines: [], isClosed: false };
          records.push(record);
          known.set(request, { record, kind: "request" });
        }
        return request;
      },
    }[name];
  }
}
syncBuiltinESMExports();

const SETTLED_MS = 100;

/**
 * @returns {Promise<string[][]>} the events of each request since the last call, once the requests are closed or time is up
 */
async function take() {
  const end = Date.now() + SETTLED_MS;
  while (Date.now() < end && !records.every(({ isClosed }) => isClosed)) await new Promise((go) => setImmediate(go));
  // What comes twice comes soon.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((go) => setImmediate(go));
  return records.splice(0).map(({ lines }) => lines);
}

globalThis[Symbol.for("bench.events")] = { take };
module.exports = { take };
