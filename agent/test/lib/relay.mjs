import net from "node:net";

/**
 * A way to the proxy that can be cut: to the agent it is as if the proxy had died.
 * @param {string} proxyUrl
 * @returns {Promise<{ url: string, cut(): Promise<void> }>}
 */
export async function startRelay(proxyUrl) {
  const { port } = new URL(proxyUrl);
  const sockets = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    cut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
