// fetch of Node 24 with its own proxy support (NODE_USE_ENV_PROXY), http.request for what
// fetch cannot do, and the WebSocket client `ws` with an agent for proxies.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import zlib from "node:zlib";
import { failed, givenUp } from "./failed.mjs";

const require = createRequire(process.env.NODE_PARTS + "/");
const PIECE = Buffer.from("0123456789abcdef".repeat(1024));

function* pieces(size) {
  for (let left = size; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left);
}

async function sum(body) {
  let size = 0,
    crc = 0,
    start = Buffer.alloc(0);
  if (body) {
    for await (const chunk of body) {
      size += chunk.length;
      crc = zlib.crc32(chunk, crc);
      if (start.length < 4000) start = Buffer.concat([start, chunk]);
    }
  }
  return { size, crc, text: start.subarray(0, 4000).toString("latin1") };
}

async function http({ mode, method, url, headers, body }) {
  const init = { method, headers, redirect: mode === "follow" ? "follow" : "manual", signal: givenUp() };
  if (headers.some(([name]) => name.toLowerCase() === "expect")) return { na: "it does not wait for the 100" };
  if (body.startsWith("t:")) init.body = body.slice(2);
  if (body.startsWith("s:")) {
    init.body = Readable.toWeb(Readable.from(pieces(Number(body.slice(2)))));
    init.duplex = "half";
  }
  const response = await fetch(url, init);
  if (mode === "sse") return events(response, body.slice(2));
  const list = [...response.headers];
  return { status: response.status, headers: list, ...(await sum(response.body)) };
}

async function events(response, following) {
  const seen = [];
  let rest = "";
  for await (const chunk of response.body) {
    rest += Buffer.from(chunk).toString();
    for (let end; (end = rest.indexOf("\n")) >= 0; rest = rest.slice(end + 1)) {
      const line = rest.slice(0, end);
      if (!line.startsWith("data:")) continue;
      seen.push(line.slice(5).trim());
      await (await fetch(following)).text();
    }
  }
  return { events: seen };
}

function websocket({ url }) {
  const { WebSocket } = require("ws");
  const { HttpsProxyAgent } = require("https-proxy-agent");
  const agent = new HttpsProxyAgent(process.env.HTTPS_PROXY);
  return new Promise((resolve) => {
    const socket = new WebSocket(url, ["other", "chat"], { agent });
    const messages = [];
    socket.on("open", () => socket.send("text"));
    socket.on("message", (data, binary) => {
      messages.push(binary ? data.toString("hex") : data.toString());
      if (messages.length === 1) socket.send(Buffer.from([0, 255]));
      if (messages.length === 2) socket.send("close");
    });
    socket.on("close", (code, reason) =>
      resolve({ messages, protocol: socket.protocol, close: code, reason: reason.toString() }),
    );
    socket.on("error", (error) => resolve({ error: String(error) }));
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const [mode, method, url, list, body] = line.split("\t");
  const headers = list
    .split("\x1f")
    .filter(Boolean)
    .map((one) => {
      const at = one.indexOf(":");
      return [one.slice(0, at), one.slice(at + 1)];
    });
  const act = mode === "ws" ? websocket : http;
  const said = await act({ mode, method, url, headers, body }).catch(failed);
  process.stdout.write(JSON.stringify(said) + "\n");
}
