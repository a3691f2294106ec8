"use strict";

/*
 * A server whose paths each ask a third party in another way, and answer with what
 * came, or with the error. `/later` gives what the last request under a context's id
 * brought that was made after its response. `MORE_WAYS` names a module with further ways.
 * Requests with `x-together` wait for as many as it says, and go on in the order of their keys.
 */
const http = require("node:http");
const { execFile } = require("node:child_process");
const crypto = require("node:crypto");
const dns = require("node:dns");
const { EventEmitter } = require("node:events");
const fs = require("node:fs");
const { PassThrough, pipeline } = require("node:stream");
const zlib = require("node:zlib");
const { WebSocketServer } = require("ws");
const express = require("express");
const undici = require("undici7");

const URL_ASKED = "http://api.shop.test/price";
const ask = () => fetch(URL_ASKED).then((response) => response.text());
const text = async (body) => (await body.toArray()).map(String).join("");
/** @param {(done: (error?: any, value?: any) => void) => void} act called with a callback */
const called = (act) => new Promise((resolve) => act(() => resolve(ask())));
const oneSocket = new http.Agent({ maxSockets: 1, keepAlive: true });
const onePool = new undici.Pool(new URL(URL_ASKED).origin, { connections: 1 });
const viaHttp = (options) =>
  new Promise((resolve, reject) => {
    http.get(URL_ASKED, options, (response) => text(response).then(resolve, reject)).on("error", reject);
  });
const bodyOf = (req, done) => {
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("end", () => done(Buffer.concat(chunks).toString()));
};

const WAYS = {
  fetch: ask,
  "http.get": () => viaHttp({}),
  "http agent with one socket": () => viaHttp({ agent: oneSocket }),
  axios: async () => (await require("axios").get(URL_ASKED)).data,
  got: async () => (await import("got")).default(URL_ASKED, { retry: { limit: 0 } }).text(),
  needle: async () => String((await require("needle")("get", URL_ASKED)).body),
  "node-fetch 2": async () => (await require("node-fetch2")(URL_ASKED)).text(),
  "node-fetch 3": async () => (await (await import("node-fetch")).default(URL_ASKED)).text(),
  superagent: async () => (await require("superagent").get(URL_ASKED).retry(0)).text,
  "undici request": async () => (await undici.request(URL_ASKED)).body.text(),
  "undici callback": () =>
    new Promise((resolve, reject) => {
      undici.request(URL_ASKED, (error, response) => (error ? reject(error) : resolve(response.body.text())));
    }),
  "undici pool of one": async () => (await onePool.request({ path: "/price", method: "GET" })).body.text(),
  "undici stream": () =>
    new Promise((resolve, reject) => {
      const through = new PassThrough();
      undici.stream(URL_ASKED, { method: "GET" }, () => through).catch(reject);
      text(through).then(resolve, reject);
    }),
  "two at once": async () => (await Promise.all([ask(), ask()])).join(),
  setTimeout: () => called((done) => setTimeout(done, 5)),
  setImmediate: () => called((done) => setImmediate(done)),
  nextTick: () => called((done) => process.nextTick(done)),
  queueMicrotask: () => called((done) => queueMicrotask(done)),
  fs: () => called((done) => fs.readFile(__filename, done)),
  dns: () => called((done) => dns.lookup("127.0.0.1", done)),
  crypto: () => called((done) => crypto.pbkdf2("a", "b", 10, 8, "sha256", done)),
  zlib: () => called((done) => zlib.gzip("a", done)),
  "child process": () => called((done) => execFile(process.execPath, ["-e", ""], { env: {} }, done)),
  pipeline: () => called((done) => pipeline(fs.createReadStream(__filename), new PassThrough().resume(), done)),
  emitter: () =>
    called((done) => {
      const emitter = new EventEmitter().once("ready", done);
      setImmediate(() => emitter.emit("ready"));
    }),
  "async generator": async () => {
    async function* generated() {
      yield await ask();
    }
    for await (const one of generated()) return one;
  },
  "body by its events": (req) => called((done) => bodyOf(req, done)),
  "body by iteration": async (req) => {
    await text(req);
    return ask();
  },
  "body by pipe": (req) => called((done) => req.pipe(new PassThrough().resume()).on("finish", done)),
  "the body's first piece": (req) => called((done) => req.once("data", done)),
  express: (req, res) => application(req, res),
  itself: () => fetch(`http://127.0.0.1:${server.address().port}/fetch`).then((response) => response.text()),
};

const application = express().use(express.json(), (req, res) => {
  ask().then(
    (said) => res.end(said),
    (error) => res.end(String(error.cause?.code ?? error.code)),
  );
});

/** Made after the response, so told of later. */
const LATER = {
  finish: (res) => called((done) => res.on("finish", done)),
  close: (res) => called((done) => res.on("close", done)),
  "after the response": (res) => called((done) => res.on("finish", () => setTimeout(done, 10))),
};
const later = new Map();

const gates = new Map();

function together(req, way) {
  const { "x-together": count = "1", "x-key": key } = req.headers;
  return new Promise((resolve) => {
    const waiting = [...(gates.get(way) ?? []), { key, resolve }];
    gates.set(way, waiting);
    if (waiting.length < Number(count)) return;
    gates.delete(way);
    for (const one of waiting.sort((a, b) => (a.key < b.key ? -1 : 1))) one.resolve();
  });
}

const settled = (promise) => promise.catch((error) => String(error.cause?.code ?? error.code ?? error));

const server = http.createServer(async (req, res) => {
  const way = decodeURIComponent(req.url.slice(1));
  if (way.startsWith("later/")) return res.end(String(await later.get(way.slice("later/".length))));
  if (LATER[way]) {
    later.set(`${way}/${req.headers["x-key"]}`, settled(LATER[way](res)));
    return res.end("later");
  }
  await together(req, way);
  const said = await settled(Promise.resolve(WAYS[way](req, res)));
  if (said !== undefined && !res.writableEnded && way !== "express") res.end(said);
});

new WebSocketServer({ server }).on("connection", (socket) => {
  socket.on("message", async () => socket.send(await settled(ask())));
});

const more = process.env.MORE_WAYS ? require(process.env.MORE_WAYS)(ask) : { ways: {}, later: {} };
Promise.resolve(more).then(({ ways, later: after }) => {
  Object.assign(WAYS, ways);
  Object.assign(LATER, after);
  server.listen(0, "127.0.0.1", () => {
    process.send({ port: server.address().port, ways: Object.keys(WAYS), later: Object.keys(LATER) });
  });
});
