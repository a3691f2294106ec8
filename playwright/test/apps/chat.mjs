/* A server that opens a WebSocket for who asks for /open, sends much on it at /flood, and asks for a price at /price. */
import { createServer } from "node:http";
import { createRequire } from "node:module";

const WebSocket = createRequire(process.env.WS_FROM)("ws");
const FRAME = "x".repeat(256 * 1024);
let socket;

const pages = {
  "/": () => "open",
  "/open": async () => {
    socket = new WebSocket("ws://chat.example/room");
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return "connected";
  },
  "/flood": () => {
    for (let sent = 0; sent < Number(process.env.FRAMES); sent += 1) socket.send(FRAME);
    return "sent";
  },
  "/price": async () => (await fetch("http://prices.example/price")).text(),
};

createServer(async (request, response) => {
  try {
    response.end(await pages[request.url]());
  } catch (error) {
    response.writeHead(502).end(error.stack);
  }
}).listen(process.env.PORT, "127.0.0.1");
