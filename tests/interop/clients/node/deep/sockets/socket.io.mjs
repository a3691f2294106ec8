import { once } from "node:events";
import http from "node:http";
import { Server } from "socket.io";
import { io } from "socket.io-client";
import { run } from "../../lib/harness.mjs";

/** Have a client and a server of this process talk over a WebSocket. */
async function talk(act) {
  const web = http.createServer().listen(0, "127.0.0.1");
  await once(web, "listening");
  const server = new Server(web);
  server.on("connection", (socket) => {
    socket.on("ask", (value, answer) => answer({ value }));
    socket.on("echo", (...values) => socket.emit("echoed", ...values));
    socket.on("leave", () => socket.disconnect());
  });
  const client = io(`http://127.0.0.1:${web.address().port}`, { transports: ["websocket"], reconnection: false });
  try {
    return await act(client);
  } finally {
    client.close();
    await server.close();
  }
}

const heard = (client, name) => new Promise((resolve) => client.once(name, (...values) => resolve(values)));

await run({
  acknowledged: () => talk((client) => client.timeout(2000).emitWithAck("ask", "text")),
  events: () =>
    talk((client) => {
      client.emit("echo", 1, { a: ["b"] }, Buffer.from("bytes"));
      return heard(client, "echoed");
    }),
  "ended by the server": () =>
    talk((client) => {
      client.emit("leave");
      return heard(client, "disconnect").then(([reason]) => reason);
    }),
});
