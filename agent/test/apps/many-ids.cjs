"use strict";

/*
 * A server that asks a third party for each request, and says what its agent remembers.
 * It wants `--expose-gc`, and UPSTREAM, the port where the third party is.
 */
const http = require("node:http");

const { UPSTREAM } = process.env;
const ATTACHED = Symbol.for("trafficmock.attached");
const agent = new http.Agent({ keepAlive: true });
const lookup = (name, options, done) =>
  options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);

function asked(request) {
  return new Promise((resolve, reject) => {
    const { traceparent } = request.headers;
    const headers = traceparent ? { traceparent } : {};
    http
      .get({ host: "third.test", port: UPSTREAM, path: "/price", headers, agent, lookup }, (answer) => {
        answer.resume().on("end", resolve);
      })
      .on("error", reject);
  });
}

function remembered() {
  global.gc();
  const { known } = globalThis[ATTACHED].agent.contexts;
  const { heapUsed, external } = process.memoryUsage();
  return { known: known.byId.size, closed: known.closed.size, bytes: heapUsed + external };
}

const server = http.createServer((request, response) => {
  if (request.url === "/remembered") return response.end(JSON.stringify(remembered()));
  asked(request).then(
    () => response.end("asked"),
    (error) => response.writeHead(500).end(String(error)),
  );
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
process.stdin.on("end", () => process.exit(0)).resume();
