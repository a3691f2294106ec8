import { WebSocketServer } from "ws";

/**
 * What the upstream's sockets do, by path: `/ws-echo` sends back what comes
 * and closes when told `close:<code>:<reason>`; `/ws-refuse` refuses the
 * upgrade.
 */
export function serveWebSockets(server) {
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    if (!request.url.startsWith("/ws-echo")) {
      socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, echo);
  });
}

function echo(socket) {
  socket.on("message", (data, isBinary) => {
    const text = isBinary ? "" : data.toString("utf8");
    const [word, code, reason] = text.split(":");
    if (word === "close") socket.close(Number(code), reason);
    else if (isBinary) socket.send(data, { binary: true });
    else socket.send(`echo ${text}`);
  });
}
