import assert from "node:assert/strict";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { runNode } from "../lib/child.mjs";
import { startProxy, until } from "../lib/proxy.mjs";

/** What got asks for, with HTTP/2, and what it fails with. */
const GOT = `
  import got from "got";
  const url = "https://" + process.env.HOST + ":9443/";
  const error = await got(url, { http2: true, retry: { limit: 0 } }).catch((error) => error);
  console.log(JSON.stringify({ code: error.code, message: error.message, cause: error.cause?.cause?.code }));`;

/** Connections whose protocol nobody knows, and one that offers HTTP/2 by a look-up of its own. */
const SOCKETS = `
  const net = require("node:net"), tls = require("node:tls"), dns = require("node:dns");
  const host = "db.invalid";
  const failure = (socket) => new Promise((resolve) => socket.on("error", resolve));
  const lookup = (name, _options, done) => done(Object.assign(new Error("own look-up of " + name), { code: "EOWN" }));
  const told = ({ name, code, message, hostname, cause }) => ({ name, code, message, hostname, cause: cause?.code });
  (async () => {
    const ends = {
      net: told(await failure(net.connect(5432, host))),
      tls: told(await failure(tls.connect(5432, host))),
      "other protocol": told(await failure(tls.connect({ port: 5432, host, ALPNProtocols: ["postgresql"] }))),
      "dns.lookup": told(await new Promise((resolve) => dns.lookup(host, resolve))),
      "dns.promises.lookup": told(await dns.promises.lookup(host, { all: true }).catch((error) => error)),
      "promisified": told(await require("node:util").promisify(dns.lookup)(host).catch((error) => error)),
      "own look-up": told(await failure(tls.connect({ port: 443, host, lookup, ALPNProtocols: ["h2"] }))),
      "own look-up, as bytes": told(await failure(tls.connect(443, host, { host, lookup, ALPNProtocols: Buffer.from("\\x02h2") }))),
    };
    const { address } = await require("node:util").promisify(dns.lookup)("127.0.0.1");
    console.log(JSON.stringify({ ends, address }));
    process.exit();
  })();`;

/** Looks a host up, and connects, as grpc-js does: it says what ends its connection, and nothing of a look-up. */
const GRPC = `
  const dns = require("node:dns"), net = require("node:net"), { promisify } = require("node:util");
  const early = promisify(dns.lookup);
  const failed = (host) => ({ message: "Name resolution failed for " + host });
  exports.call = async (host, port, isOld) => {
    let found;
    try {
      found = await (isOld ? early : dns.promises.lookup)(host, { all: true });
    } catch {
      return failed(host);
    }
    return new Promise((resolve) => net.connect({ host: found[0].address, port }).on("error", resolve));
  };`;
const CALLS = `
  const { call } = require("@grpc/grpc-js");
  (async () => {
    const ends = [];
    for (const isOld of [false, true]) {
      const { code, message } = await call(process.env.HOST, 50051, isOld);
      ends.push({ code, message });
    }
    console.log(JSON.stringify(ends));
    process.exit();
  })();`;

describe("a host without an address", () => {
  let strict, lenient, folder;
  before(async () => {
    strict = await startProxy("--strict", "--allow", "allowed.invalid");
    lenient = await startProxy();
    folder = await mkdtemp(join(tmpdir(), "grpc-"));
    await mkdir(join(folder, "node_modules/@grpc/grpc-js"), { recursive: true });
    await writeFile(join(folder, "node_modules/@grpc/grpc-js/index.js"), GRPC);
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await strict.stop();
    await lenient.stop();
  });

  /** @returns {Promise<any>} what a script prints */
  async function run(code, proxy, more) {
    const { HOST = "bedrock.invalid", ...options } = more ?? {};
    const { stdout, stderr } = await runNode(code, { env: { TRAFFICMOCK_PROXY_URL: proxy.url, HOST }, ...options });
    return JSON.parse(stdout || JSON.stringify(stderr));
  }

  test("is refused by strict mode where a client asks for the protocol first, with the code of the look-up", async () => {
    const refused = await run(GOT, strict, { module: true });
    assert.equal(refused.code, "ENOTFOUND");
    assert.equal(refused.cause, "ERR_TRAFFICMOCK_UNMATCHED_REQUEST");
    assert.match(
      refused.message,
      /^CONNECT https:\/\/bedrock\.invalid:9443\/ .*strict mode.* Allow bedrock\.invalid:9443\./,
    );
    const { entries } = await until(strict, "/api/history", ({ entries }) => entries.length === 1 && { entries });
    assert.equal(entries[0].outcome.code, "unmatched_request");
    for (const [proxy, HOST] of [
      [strict, "allowed.invalid"],
      [lenient, "bedrock.invalid"],
    ]) {
      const passed = await run(GOT, proxy, { module: true, HOST });
      assert.deepEqual(passed, { code: "ENOTFOUND", message: `getaddrinfo ENOTFOUND ${HOST}` });
    }
  });

  test("leaves the errors of connections as they are whose protocol nobody knows", async () => {
    const { ends, address } = await run(SOCKETS, strict);
    const told = {
      name: "Error",
      code: "ENOTFOUND",
      message: "getaddrinfo ENOTFOUND db.invalid",
      hostname: "db.invalid",
    };
    for (const way of ["net", "tls", "other protocol", "dns.lookup", "dns.promises.lookup", "promisified"]) {
      assert.deepEqual(ends[way], told, way);
    }
    for (const way of ["own look-up", "own look-up, as bytes"]) {
      assert.equal(ends[way].code, "EOWN");
      assert.equal(ends[way].cause, "ERR_TRAFFICMOCK_UNMATCHED_REQUEST");
      assert.match(ends[way].message, /strict mode.*own look-up of db\.invalid$/);
    }
    assert.equal(address, "127.0.0.1");
  });

  test("changes nothing without strict mode", async () => {
    const { ends } = await run(SOCKETS, lenient);
    for (const { message } of Object.values(ends)) {
      assert.match(message, /^(getaddrinfo ENOTFOUND|own look-up of) db\.invalid$/);
    }
  });

  test("is refused where grpc-js connects, which says nothing of a look-up", async () => {
    for (const { code, message } of await run(CALLS, strict, { cwd: folder, HOST: "orders.invalid" })) {
      assert.equal(code, "ENOTFOUND");
      assert.match(message, /^CONNECT https:\/\/orders\.invalid:50051\/ .*strict mode/);
    }
    for (const { message } of await run(CALLS, strict, { cwd: folder, HOST: "allowed.invalid" })) {
      assert.equal(message, "getaddrinfo ENOTFOUND allowed.invalid");
    }
  });
});
