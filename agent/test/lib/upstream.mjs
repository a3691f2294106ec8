import http from "node:http";
import https from "node:https";
import zlib from "node:zlib";
import { WebSocketServer } from "ws";

/**
 * A real server that shows what it was asked, with one path per behaviour.
 * @param {{ key: string, cert: string }} [tls]
 */
export async function startUpstream(tls) {
  const seen = [];
  const waiting = [];
  const server = tls ? https.createServer(tls, answer) : http.createServer(answer);
  const wss = new WebSocketServer({ server, path: "/ws" });
  wss.on("connection", (socket, request) => {
    seen.push({
      method: "WS",
      url: request.url,
      headers: request.headers,
      protocols: request.headers["sec-websocket-protocol"],
    });
    socket.on("message", (data, isBinary) => {
      if (String(data) === "close me") socket.close(4001, "as you wish");
      else if (String(data) === "kill me") socket.terminate();
      else socket.send(isBinary ? data : `echo ${data}`, { binary: isBinary });
    });
  });
  function answer(req, res) {
    const chunks = [];
    req.on("data", (chunk) => chunks.push(chunk));
    req.on("end", () => {
      const url = new URL(req.url, "http://x");
      const request = {
        method: req.method,
        url: req.url,
        rawHeaders: req.rawHeaders,
        headers: req.headers,
        body: Buffer.concat(chunks),
        socket: req.socket,
      };
      seen.push(request);
      respond(url, request, res, waiting);
    });
  }
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `${tls ? "https" : "http"}://127.0.0.1:${server.address().port}`;
  return {
    url,
    seen,
    server,
    /** Let a response at /steps go on. */
    step: () => waiting.shift()?.(),
    stop: () =>
      new Promise((resolve) => {
        for (const client of wss.clients) client.terminate();
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

function respond(url, request, res, waiting) {
  const { pathname } = url;
  const cookies = ["A=1; Path=/", "B=2; Path=/"];
  if (pathname === "/gzip") {
    return res
      .writeHead(200, { "Content-Encoding": "gzip", "Content-Type": "text/plain" })
      .end(zlib.gzipSync("packed text"));
  }
  if (pathname === "/br") {
    return res.writeHead(200, { "Content-Encoding": "br" }).end(zlib.brotliCompressSync("packed text"));
  }
  if (pathname === "/cookies") {
    return res.writeHead(200, ["Set-Cookie", cookies[0], "X-Case", "Kept", "Set-Cookie", cookies[1]]).end("cookies");
  }
  if (url.searchParams.has("length")) {
    return answerWithLength(request.socket, Number(pathname.slice(1)), url.searchParams.get("length"));
  }
  if (pathname === "/204") return res.writeHead(204).end();
  if (pathname === "/304") return res.writeHead(304, { ETag: '"x"' }).end();
  if (pathname === "/head") {
    return res
      .writeHead(200, { "Content-Length": "1234", "X-Head": "yes" })
      .end(request.method === "HEAD" ? undefined : Buffer.alloc(1234, 97));
  }
  if (pathname === "/reset") return request.socket.destroy();
  if (pathname === "/broken") {
    return res.writeHead(200, { "Content-Length": "100" }).write("the start of", () => request.socket.destroy());
  }
  if (pathname === "/stream-big") return void pour(res, Number(url.searchParams.get("bytes")));
  if (pathname === "/redirect") {
    return res
      .writeHead(Number(url.searchParams.get("status") ?? 302), { Location: url.searchParams.get("to") ?? "/echo" })
      .end("moved");
  }
  if (pathname === "/steps") {
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    res.write("data: 1\n\n");
    waiting.push(() => res.end("data: 2\n\n"));
    return undefined;
  }
  const body = JSON.stringify({
    method: request.method,
    url: request.url,
    rawHeaders: request.rawHeaders,
    body: request.body.toString("latin1"),
  });
  return res.writeHead(200, "Fine", { "Content-Type": "application/json" }).end(body);
}

/** A head with the length of a body that does not come, which Node's own server would not say. */
function answerWithLength(socket, status, length) {
  socket.write(`HTTP/1.1 ${status} Bodiless\r\nETag: "x"\r\nContent-Length: ${length}\r\n\r\n`);
}

/** As many bytes as wanted, as fast as they are read. */
function pour(res, bytes) {
  const chunk = Buffer.alloc(64 * 1024, 98);
  const go = () => {
    while (bytes > 0) {
      const piece = chunk.subarray(0, Math.min(bytes, chunk.length));
      bytes -= piece.length;
      if (!res.write(piece)) return res.once("drain", go);
    }
    return res.end();
  };
  res.writeHead(200);
  go();
}
