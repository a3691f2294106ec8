import net from "node:net";

/** The first byte of a TLS connection. */
const TLS_HANDSHAKE = 22;

/**
 * Start a server that keeps the bytes of each connection, and answers once a request has ended: with its head if it has
 * no body, with the last chunk or the declared length otherwise. It resets a TLS connection, whose bytes are "TLS".
 * @returns {Promise<{ port: number, url: string, take(): string[], stop(): Promise<void> }>} `take` returns the bytes
 *   that have come since the last call, by connection; connections without any are left out
 */
export async function startRawServer() {
  const sockets = new Set();
  const kept = [];
  const server = net.createServer((socket) => {
    const own = { text: "" };
    kept.push(own);
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.on("data", (data) => {
      if (data[0] === TLS_HANDSHAKE) {
        own.text = "TLS";
        return socket.destroy();
      }
      own.text += data.toString("latin1");
      if (isWhole(own.text)) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    take: () =>
      kept.splice(0).flatMap(({ text }) => {
        const shown = text.replaceAll(String(port), "PORT");
        return shown ? [shown] : [];
      }),
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(resolve);
      }),
  };
}

/** @param {string} text of one request */
function isWhole(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const [head, body] = [text.slice(0, end), text.slice(end + 4)];
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return body.endsWith("0\r\n\r\n");
  return body.length >= Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
}
