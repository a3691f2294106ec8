/*
 * The server that the libraries ask: node upstream.mjs CERTIFICATE.
 *
 * It answers every host, over http and https, and keeps a log of what it got. It prints one JSON line with its
 * ports, obeys one-line orders on its standard input and ends with that.
 */
import { readFileSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { createInterface } from "node:readline";
import { answerTo, forget } from "./lib/answers.mjs";
import { shown } from "./lib/shown.mjs";
import { acceptSockets } from "./lib/sockets.mjs";

const log = [];
let call = "";
const open = new Set();
const numbers = new WeakMap();
let connections = 0;

function serve(req, res) {
  const { socket } = req;
  const entry = {
    call,
    scheme: socket.encrypted ? "https" : "http",
    method: req.method,
    host: req.headers.host,
    url: req.url,
    headers: pairs(req.rawHeaders),
    connection: numberOf(socket),
  };
  log.push(entry);
  const chunks = [];
  req.on("data", (chunk) => chunks.push(chunk));
  req.on("error", () => {});
  res.on("error", () => {});
  res.on("close", () => {
    if (!req.complete) entry.body = `${shown(Buffer.concat(chunks))} (cut)`;
    entry.answered = res.writableFinished;
  });
  const request = () => ({
    method: req.method,
    host: req.headers.host,
    url: req.url,
    headers: entry.headers,
    body: Buffer.concat(chunks),
  });
  req.on("end", () => {
    entry.body = shown(Buffer.concat(chunks));
    reply(res, answerTo(request()));
  });
}

/** Connections are counted from the first request on each. */
function numberOf(socket) {
  if (!numbers.has(socket)) numbers.set(socket, connections++);
  return numbers.get(socket);
}

/** Send what {@link answerTo} gave. */
function reply(res, answer) {
  const body = Buffer.from(answer.body, "latin1");
  if (answer.kind === "stall") return;
  if (answer.kind === "reset") return res.socket.encrypted ? res.socket.destroy() : res.socket.resetAndDestroy();
  for (const hint of answer.hints ?? []) res.writeEarlyHints(hint);
  const headers =
    answer.kind === "whole" && !hasLength(answer.headers) && ![204, 304].includes(answer.status)
      ? [...answer.headers, ["Content-Length", String(body.length)]]
      : answer.headers;
  res.sendDate = false;
  res.writeHead(answer.status, headers.flat());
  if (answer.kind === "unfinished") return res.write(body);
  if (answer.kind === "cut") return res.write(body, () => res.socket.destroy());
  if (answer.kind === "chunked") for (const at of [0, 1, 2]) res.write(body.subarray(at * 5, at * 5 + 5));
  res.end(res.req.method === "HEAD" ? undefined : answer.kind === "chunked" ? body.subarray(15) : body);
}

const hasLength = (headers) => headers.some(([name]) => name.toLowerCase() === "content-length");
const pairs = (raw) => Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at], raw[2 * at + 1]]);

/** What the bench wants; each order is answered with one JSON line. */
const ORDERS = {
  /** A call begins: what is logged from now on is of it. */
  call: (name) => {
    call = name;
  },
  /** Say what would be answered, without the request counting. */
  ask: (request) => answerTo({ ...request, body: Buffer.from(request.body, "latin1") }),
  /** A program has ended: when its connections have, too, give the log and forget. */
  take: async () => {
    for (const socket of [...open]) socket.destroySoon();
    while (open.size) await new Promise((resolve) => [...open][0].once("close", resolve));
    await new Promise((resolve) => setImmediate(resolve));
    forget();
    return log.splice(0);
  },
};

async function obey(line) {
  const [[order, argument]] = Object.entries(JSON.parse(line));
  process.stdout.write(`${JSON.stringify((await ORDERS[order](argument)) ?? null)}\n`);
}

const pem = readFileSync(process.argv[2]);
const options = { keepAliveTimeout: 60000, requestTimeout: 0 };
const servers = {
  http: http.createServer(options, serve),
  https: https.createServer({ ...options, key: pem, cert: pem, ALPNProtocols: ["http/1.1"] }, serve),
};
const ports = {};
for (const [scheme, server] of Object.entries(servers)) {
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  });
  server.on("checkContinue", (req, res) => {
    res.writeContinue();
    serve(req, res);
  });
  acceptSockets(server, log, () => call);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  ports[scheme] = server.address().port;
}
process.stdout.write(`${JSON.stringify(ports)}\n`);
createInterface({ input: process.stdin })
  .on("line", obey)
  .on("close", () => process.exit());
