import { once } from "node:events";
import { WebSocket, WebSocketServer } from "ws";
import { run } from "../../lib/harness.mjs";

/** Have a client and a server of this process talk, and tell what the client got. */
async function talk(act, options) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, ...options });
  server.on("connection", (socket, { headers }) => {
    socket.send(JSON.stringify([headers["x-own"] ?? "", socket.protocol]));
    socket.on("message", (data, isBinary) => {
      if (String(data) === "close") socket.close(4001, "as asked");
      else socket.send(data, { binary: isBinary });
    });
  });
  await once(server, "listening");
  try {
    return await act(`ws://127.0.0.1:${server.address().port}/socket`);
  } finally {
    server.close();
  }
}

/** Send texts, one after the answer to the other, and end with the close. */
async function conversation(socket, ...sent) {
  const got = [];
  socket.on("message", (data, isBinary) => {
    got.push([String(data), isBinary]);
    socket.send(sent.shift() ?? "close");
  });
  const [code, reason] = await once(socket, "close");
  return [...got, code, String(reason)];
}

await run({
  "text and bytes": () => talk((url) => conversation(new WebSocket(url), "text", Buffer.from("bytes"))),
  "a large message": () =>
    talk(async (url) => {
      const [, [text]] = await conversation(new WebSocket(url), "x".repeat(200000));
      return text.length;
    }),
  "compressed messages": () =>
    talk((url) => conversation(new WebSocket(url), "x".repeat(5000)), { perMessageDeflate: true }),
  "headers and a protocol": () =>
    talk((url) => conversation(new WebSocket(url, ["chat"], { headers: { "x-own": "yes" } }), "text")),
  "refused by the server": () => talk((url) => conversation(new WebSocket(url)), { verifyClient: () => false }),
  terminated: () =>
    talk(async (url) => {
      const socket = new WebSocket(url);
      await once(socket, "message");
      socket.terminate();
      return (await once(socket, "close"))[0];
    }),
});
