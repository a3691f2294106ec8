import { readFileSync } from "node:fs";
import net from "node:net";
import tls from "node:tls";

/** The first byte of a TLS connection, and of SOCKS 5. */
const TLS_HANDSHAKE = 22;
const SOCKS = 5;
const ANSWER = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";

/**
 * Servers that keep the bytes that they get: one behind TLS, one without, and a proxy (plain, CONNECT and SOCKS 5).
 * Each answers every request alike. They are sockets, so the agent does not see them.
 */
export async function startRawServers() {
  const sockets = new Set();
  let kept = [];
  const keep = (server) => (socket) => {
    const own = { server, text: "" };
    kept.push(own);
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    return own;
  };
  const answer = (server) => (socket) => {
    const own = keep(server)(socket);
    socket.on("data", (data) => {
      own.text += data.toString("latin1");
      if (isWhole(own.text)) socket.end(ANSWER);
    });
  };
  // The file of the bench has the key as well.
  const pem = readFileSync(process.env.BENCH_CERTIFICATE);
  const servers = [
    tls.createServer({ key: pem, cert: pem }, answer("TLS")),
    net.createServer(answer("plain")),
    net.createServer((client) => serveProxy(client, keep("proxy")(client))),
  ];
  const ports = await Promise.all(servers.map(listen));
  const names = ["TLS_PORT", "PLAIN_PORT", "PROXY_PORT"];
  const shown = (text) => ports.reduce((all, port, at) => all.replaceAll(`:${port}`, `:${names[at]}`), text);
  return {
    https: `https://api.shop.test:${ports[0]}`,
    http: `http://shop.test:${ports[1]}`,
    proxy: `http://127.0.0.1:${ports[2]}`,
    proxyPort: ports[2],
    /** @returns {string[][]} what came since the last call: the server, and the bytes, in a fixed order */
    take() {
      const found = kept.map(({ server, text }) => [server, shown(text)]).filter(([, text]) => text);
      kept = [];
      return found.sort((a, b) => (String(a) < String(b) ? -1 : 1));
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) server.close();
    },
  };
}

const listen = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));

/** Serve one connection of a proxy; behind its tunnel it keeps only whether TLS came. */
function serveProxy(client, own) {
  let step = 0;
  const open = (port, head) => {
    const up = net.connect(port, "127.0.0.1", () => client.write(head));
    up.on("error", () => client.destroy()).on("close", () => client.destroy());
    client.on("close", () => up.destroy());
    up.pipe(client);
    return up;
  };
  let up;
  client.on("data", (data) => {
    if (up) {
      if (step === 1) own.text += data[0] === TLS_HANDSHAKE ? "(TLS)" : data.toString("latin1");
      step = 2;
      return up.write(data);
    }
    if (data[0] === SOCKS && own.text === "") {
      own.text = "SOCKS ";
      return client.write(Buffer.from([SOCKS, 0]));
    }
    if (own.text === "SOCKS ") {
      own.text += `${data.toString("latin1", 5, data.length - 2)} `;
      step = 1;
      up = open(data.readUInt16BE(data.length - 2), Buffer.from([SOCKS, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
      return undefined;
    }
    own.text += data.toString("latin1");
    if (!isWhole(own.text)) return undefined;
    if (!own.text.startsWith("CONNECT")) return client.end(ANSWER);
    step = 1;
    up = open(Number(/^CONNECT \S+?:(\d+) /.exec(own.text)[1]), "HTTP/1.1 200 Connected\r\n\r\n");
    return undefined;
  });
}

/** @param {string} text of one request */
function isWhole(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const [head, body] = [text.slice(0, end), text.slice(end + 4)];
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return body.endsWith("0\r\n\r\n");
  return body.length >= Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
}
