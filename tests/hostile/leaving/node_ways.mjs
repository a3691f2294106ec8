// Sends one request to pay.test, in the way that the first argument names: `node node_ways.mjs WAY PORT`.
// All names are found on this machine, where PORT says whether anything arrives.
import { spawn } from "node:child_process";
import cluster from "node:cluster";
import dgram from "node:dgram";
import dns from "node:dns";
import http from "node:http";
import http2 from "node:http2";
import { createRequire } from "node:module";
import net from "node:net";
import { delimiter, join } from "node:path";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { Worker } from "node:worker_threads";

const [, file, way, port] = process.argv;
const HOST = "pay.test";
const url = `http://${HOST}:${port}/left`;
const socketUrl = `ws://${HOST}:${port}/left`;
const { lookup } = dns;
dns.lookup = (name, options, done) => {
  const call = typeof options === "function" ? options : done;
  if (!name.endsWith(".test")) return lookup(name, options, done);
  return options.all ? call(null, [{ address: "127.0.0.1", family: 4 }]) : call(null, "127.0.0.1", 4);
};

dns.promises.lookup = async (name, options) =>
  options?.all ? [{ address: "127.0.0.1", family: 4 }] : { address: "127.0.0.1", family: 4 };

/** @param {string} name a package of one of the directories in WAYS_MODULES */
function load(name) {
  for (const folder of process.env.WAYS_MODULES.split(delimiter)) {
    const require = createRequire(join(folder, "index.js"));
    try {
      require.resolve(name);
    } catch {
      continue;
    }
    return require(name);
  }
  console.log("not installed");
  process.exit();
}

/** @param {import("node:events").EventEmitter} emitter @param {string[]} names */
const until = (emitter, ...names) =>
  new Promise((resolve, reject) => {
    for (const name of names) emitter.once(name, resolve);
    emitter.once("error", reject);
  });

const get = (options = {}) => until(http.get(url, options), "response");
const child = (command, args, options = {}) =>
  until(spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], ...options }), "exit");
const curl = (...more) => child("curl", ["-sS", "-m5", "--resolve", `${HOST}:${port}:127.0.0.1`, ...more, url]);
const socketOf = (made) =>
  "on" in made ? until(made, "open") : new Promise((resolve) => (made.onopen = made.onerror = resolve));
const written = async (socket, event) => {
  await until(socket, event);
  socket.write("GET /left HTTP/1.1\r\nHost: pay.test\r\n\r\n");
  await until(socket, "data", "close");
};
const asked = (socket) => {
  socket.send("left", Number(port), "127.0.0.1");
  return new Promise((resolve) => setTimeout(resolve, 300));
};

const WAYS = {
  "http.get": () => get(),
  "own http.Agent": () => get({ agent: new http.Agent({ keepAlive: true }) }),
  createConnection: () => get({ createConnection: () => net.connect(Number(port), "127.0.0.1") }),
  "global fetch": () => fetch(url),
  "vm context": () => vm.runInNewContext("fetch(url)", { fetch, url }),
  "undici dispatcher": () => {
    const undici = load("undici7");
    return undici.fetch(url, { dispatcher: new undici.Agent() });
  },
  "undici Client": () => new (load("undici7").Client)(new URL(url).origin).request({ path: "/left", method: "GET" }),
  "undici ProxyAgent": () => {
    const undici = load("undici7");
    return undici.request(url, { dispatcher: new undici.ProxyAgent(`http://127.0.0.1:${port}`) });
  },
  axios: () => load("axios").get(url, { proxy: false }),
  got: () =>
    import(join(process.env.WAYS_MODULES.split(delimiter)[0], "got/dist/source/index.js")).then(({ default: got }) =>
      got(url, { retry: { limit: 0 } }),
    ),
  "node-fetch": () => load("node-fetch2")(url),
  "https-proxy-agent": () => {
    const { HttpsProxyAgent } = load("https-proxy-agent5");
    return get({ agent: new HttpsProxyAgent(`http://127.0.0.1:${port}`) });
  },
  "CONNECT by hand": () =>
    until(http.request({ host: HOST, port, method: "CONNECT", path: `${HOST}:443` }).end(), "connect", "response"),
  http2: async () => {
    const session = http2.connect(new URL(url).origin);
    session.request({ ":path": "/left" }).on("error", () => {});
    await until(session, "close");
  },
  "grpc-js": () => {
    const grpc = load("@grpc/grpc-js");
    const client = new grpc.Client(`dns:${HOST}:${port}`, grpc.credentials.createInsecure(), {
      "grpc.enable_http_proxy": 0,
    });
    const same = (value) => value;
    return new Promise((resolve, reject) =>
      client.makeUnaryRequest(
        "/a/left",
        same,
        same,
        Buffer.alloc(1),
        new grpc.Metadata(),
        { deadline: Date.now() + 3000 },
        (error) => (error ? reject(error) : resolve()),
      ),
    );
  },
  WebSocket: () => socketOf(new WebSocket(socketUrl)),
  ws: () => socketOf(new (load("ws").WebSocket)(socketUrl)),
  "undici WebSocket": () => socketOf(new (load("undici7").WebSocket)(socketUrl)),
  "worker thread": () => until(new Worker(fileURLToPath(import.meta.url), { argv: ["global fetch", port] }), "exit"),
  cluster: () => {
    cluster.setupPrimary({ exec: file, args: ["http.get", port] });
    return until(cluster.fork(), "exit");
  },
  "child node": () => child(process.execPath, [file, "http.get", port]),
  "child node, empty env": () => child(process.execPath, [file, "http.get", port], { env: {} }),
  "child curl": () => curl(),
  "child curl, --noproxy": () => curl("--noproxy", "*"),
  NO_PROXY: () => get(),
  "NO_PROXY, child curl": () => curl(),
  "run --no-proxy": () => get(),
  TRAFFICMOCK_IGNORE_HOSTS: () => get(),
  "TRAFFICMOCK_IGNORE_HOSTS, fetch": () => fetch(url),
  "net socket": () => written(net.connect(Number(port), HOST), "connect"),
  "tls socket": () => until(tls.connect({ port: Number(port), host: HOST, rejectUnauthorized: false }), "close"),
  "UDP socket": () => asked(dgram.createSocket("udp4")),
  "dns.Resolver": () => {
    const resolver = new dns.promises.Resolver({ timeout: 300, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    return resolver.resolve4("left.pay.test");
  },
  "native binding": async () => {
    const { TCP, TCPConnectWrap, constants } = process.binding("tcp_wrap");
    const handle = new TCP(constants.SOCKET);
    const wrap = new TCPConnectWrap();
    await new Promise((resolve) => {
      wrap.oncomplete = resolve;
      handle.connect(wrap, "127.0.0.1", Number(port));
    });
    const { WriteWrap } = process.binding("stream_wrap");
    handle.writeLatin1String(new WriteWrap(), "left");
    await new Promise((resolve) => setTimeout(resolve, 300));
  },
};

if (way === "--list") {
  console.log(JSON.stringify(Object.keys(WAYS)));
} else {
  // No way takes longer, whatever the other side does.
  setTimeout(() => process.exit(), 6000).unref();
  try {
    await WAYS[way]();
  } catch (error) {
    console.log(`${error.name} ${error.code}: ${error.message}`);
  }
  // An application lives longer than the handshake of the agent, which tells of ignored hosts by it.
  if (way.startsWith("TRAFFICMOCK_IGNORE_HOSTS")) await new Promise((resolve) => setTimeout(resolve, 500));
  process.exit();
}
