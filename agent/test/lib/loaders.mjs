import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REQUIRE } from "./child.mjs";
import { stop } from "./proxy.mjs";

/** Jobs of many requests in one queue of the application; what each of them answers is who asked for it. */
const KINDS = {
  fastq: `import fastq from "fastq"; const promised = fastq.promise(ask, 1); kinds.fastq = () => promised.push(1);
    const calling = fastq((_, done) => { ask().then((one) => done(null, one), done) }, 1);
    kinds.callbacks = () => new Promise((resolve, reject) => calling.push(1, (error, one) => (error ? reject(error) : resolve(one))));`,
  async: `import asynchronous from "async"; const queue = asynchronous.queue(async () => ask(), 1);
    kinds.async = () => queue.push(1);
    const first = asynchronous.priorityQueue(async () => ask(), 1); kinds.priority = () => first.push(1, 1);`,
  bottleneck: `import Bottleneck from "bottleneck"; const limiter = new Bottleneck({ maxConcurrent: 1 });
    kinds.bottleneck = () => limiter.schedule(ask);`,
  pqueue: `import PQueue from "p-queue"; const pQueue = new PQueue({ concurrency: 1 });
    kinds.pqueue = () => pQueue.add(ask);`,
  dataloader: `import DataLoader from "dataloader";
    const loader = new DataLoader(async (keys) => { const one = await ask(); return keys.map(() => one) }, { maxBatchSize: 1, cache: false });
    kinds.dataloader = () => loader.load(1);`,
};

/** @param {string[]} libraries @returns {string} an ES module, which is TypeScript as well */
export const sourceOf = (libraries) => `
  import { createServer } from "node:http";
  const ask = async () => (await fetch(process.env.UPSTREAM + "/who")).text();
  const kinds = {} as Record<string, () => Promise<string>>;
  ${libraries.map((name) => KINDS[name]).join("\n")}
  const server = createServer(async (request, response) => {
    response.end(await kinds[request.url.slice(1)]().catch(String));
  });
  server.listen(0, "127.0.0.1", () => console.log("Listening on " + server.address().port + " " + Object.keys(kinds).join(" ")));`;

/** @param {string} source of an ES module @returns {string} it without types */
export const plain = (source) => source.replace(/ as Record<[^;]*;/, ";");

/** @param {string} source of an ES module, without types @returns {string} it as CommonJS */
export const common = (source) => source.replace(/import (.*?) from (".*?");/g, "const $1 = require($2);");

/**
 * A directory for an application, whose packages are those of another directory.
 * @param {string} packages a `node_modules`
 * @param {Record<string, string>} files
 */
export function directory(packages, files) {
  const place = mkdtempSync(join(tmpdir(), "loaders-"));
  symlinkSync(packages, join(place, "node_modules"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(place, name, ".."), { recursive: true });
    writeFileSync(join(place, name), text);
  }
  return { place, remove: () => rmSync(place, { recursive: true, force: true }) };
}

/** A real server that answers with the context that a request carries. */
export async function startMirror() {
  const server = http.createServer((request, response) => {
    const id = /trafficmock\.test=(\w+)/.exec(request.headers.baggage ?? "")?.[1] ?? "none";
    setTimeout(() => response.end(id), 5);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

/**
 * Start an application, and ask it for each kind of jobs under several contexts at once.
 * @param {{ place: string, words: string[], env: Record<string, string>, node?: string, preload?: string }} options
 *   `words` after `node`
 * @returns {Promise<{ wrong: Record<string, string[]>, stderr: string }>} for each kind the answers of another context, or of none
 */
export async function askAll({ place, words, env, node = process.execPath, preload = REQUIRE }) {
  const child = spawn(node, words, {
    cwd: place,
    env: { ...process.env, NODE_OPTIONS: preload, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let stderr = "";
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const ready = new Promise((resolve, reject) => {
    child.stdout.on("data", (data) => {
      said += data;
      const found = /Listening on (\d+) (.*)\n/.exec(said);
      if (found) resolve(found);
    });
    child.once("exit", () => reject(new Error(`${words.join(" ")} ended:\n${said}${stderr}`)));
  });
  try {
    const [, port, kinds] = await ready;
    const wrong = {};
    for (const kind of kinds.split(" ")) {
      const ids = [..."abcdef"].map((letter) => letter.repeat(32));
      const answers = await Promise.all(
        ids.map(async (id) => {
          const answer = await fetch(`http://127.0.0.1:${port}/${kind}`, {
            headers: { baggage: `trafficmock.test=${id}` },
          });
          return [id, await answer.text()];
        }),
      );
      wrong[kind] = answers.filter(([id, answer]) => id !== answer).map(([, answer]) => answer);
    }
    return { wrong, stderr };
  } finally {
    child.removeAllListeners("exit");
    await stop(child);
  }
}
