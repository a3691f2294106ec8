// An application with requests of its own, and with those that it is asked for; what carries a
// time says when it was begun. `UPSTREAM` is the port at which all hosts are found.
import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const { UPSTREAM, EVERY } = process.env;
const kept = new http.Agent({ keepAlive: true, maxSockets: 4 });

/** @param {string} kind */
function call(kind) {
  const lookup = (name, options, done) =>
    options.all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
  const options = { host: "pay.test", port: UPSTREAM, path: `/${Date.now()}/${kind}`, lookup };
  const agent = Math.random() < 0.5 ? kept : undefined;
  return new Promise((resolve) => {
    const request = http.get({ ...options, agent }, (response) => response.resume().on("close", resolve));
    request.on("error", resolve).setTimeout(5000, () => request.destroy());
  });
}

const server = http.createServer(async (request, response) => {
  const { searchParams } = new URL(request.url, "http://app.test");
  const [kind, count, spread] = ["kind", "count", "spread"].map((name) => searchParams.get(name));
  response.end("ok");
  for (let n = 0; n < Number(count); n += 1) {
    await sleep(Math.random() * Number(spread));
    void call(kind);
  }
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});

let under = 0;
setInterval(async () => {
  if (under >= 20) return;
  under += 1;
  await call("node");
  under -= 1;
}, Number(EVERY));

process.stdin.on("end", () => process.exit()).resume();
