import { WebSocketServer } from "ws";

/**
 * A proxy that says what a real one never would.
 * @param {object | string} hello its answer to the handshake; text is sent as it is
 * @param {(request: any) => (object | string)[]} [decide] what it answers to a request or a WebSocket
 */
export async function startFakeProxy(hello, decide = () => []) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", path: "/ws" });
  await new Promise((resolve) => server.once("listening", resolve));
  const seen = [];
  server.on("connection", (socket) => {
    const say = (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message));
    socket.on("message", (data) => {
      const message = JSON.parse(data);
      seen.push(message);
      if (message.type === "hello") say(hello);
      for (const answer of decide(message)) say(answer);
    });
  });
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of server.clients) socket.terminate();
        server.close(resolve);
      }),
  };
}

export const HELLO_OK = {
  type: "hello:ok",
  connectionId: "c",
  protocolVersion: 3,
  packageVersion: "0",
  clientId: "app",
  features: ["headers-list", "stream", "context", "strict"],
};
