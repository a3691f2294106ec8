import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { startProxy } from "../lib/proxy.mjs";
import { startUpstream } from "../lib/upstream.mjs";
import { startWorker } from "../lib/worker.mjs";

const { clients } = createRequire(import.meta.url)("./jest-app/clients.js");
const APP = fileURLToPath(new URL("jest-app", import.meta.url));
const CHECKOUT = fileURLToPath(new URL("../../..", import.meta.url));
const JEST = fileURLToPath(new URL("node_modules/jest/bin/jest.js", import.meta.url));
const PYTHON = process.env.TRAFFICMOCK_TEST_PYTHON ?? "python3";

/**
 * @param {string} file a program
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @returns {Promise<{ status: number, said: string }>}
 */
function run(file, args, env) {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      { cwd: APP, timeout: 60000, env: { ...process.env, NODE_OPTIONS: "", CI: "1", ...env } },
      (error, stdout, stderr) => {
        resolve({ status: error ? (error.code ?? -1) : 0, said: stdout + stderr });
      },
    );
  });
}

/** Both files in one process, one after the other. */
const jest = (...more) => [JEST, "--runInBand", ...more];

describe("Jest", () => {
  let proxy, upstream, worker;
  before(async () => {
    proxy = await startProxy();
    upstream = await startUpstream();
    worker = await startWorker(proxy.url);
    await worker.route("//nowhere.test/", (r) => r.text("mocked"));
  });
  after(async () => {
    worker.close();
    await upstream.stop();
    await proxy.stop();
  });

  /** Nobody is announced twice, and nobody is missing. */
  async function check(name, { status, said }) {
    assert.equal(status, 0, said);
    const { entries } = await proxy.get("/api/history");
    const urls = entries.map(({ request }) => request.url);
    const wanted = ["one", "two"].flatMap((file) =>
      Object.keys(clients).map((client) => `http://nowhere.test/${name}/${file}/${encodeURIComponent(client)}`),
    );
    for (const url of wanted) assert.equal(urls.filter((other) => other === url).length, 1, url);
    const hop = entries.find(({ request }) => request.url.endsWith(`/echo?hop=${name}`));
    assert.ok(hop.redirectedFromId);
  }

  const asked = (name) => ({
    NAME: name,
    REDIRECTING: `${upstream.url}/redirect?to=${encodeURIComponent(`/echo?hop=${name}`)}`,
  });

  test("is seen under `trafficmock run`", async () => {
    const command = ["-m", "trafficmock", "run", "--proxy-url", proxy.url, "--", process.execPath, ...jest()];
    await check("run", await run(PYTHON, command, { PYTHONPATH: CHECKOUT, ...asked("run") }));
  });

  test("is seen by startTrafficMock() in setupFilesAfterEnv", async () => {
    await check(
      "setup",
      await run(process.execPath, jest("--setupFilesAfterEnv", "./setup.js"), {
        TRAFFICMOCK_PROXY_URL: proxy.url,
        ...asked("setup"),
      }),
    );
  });

  test("is seen by a set-up file that never calls stop(), in every test file", async () => {
    await check(
      "left",
      await run(process.execPath, jest("--setupFiles", "./setup-for-good.js"), {
        TRAFFICMOCK_PROXY_URL: proxy.url,
        ...asked("left"),
      }),
    );
  });

  test("a call under `trafficmock run` attaches nothing more", async () => {
    const command = [
      "-m",
      "trafficmock",
      "run",
      "--proxy-url",
      proxy.url,
      "--",
      process.execPath,
      ...jest("--setupFilesAfterEnv", "./setup.js"),
    ];
    await check("both", await run(PYTHON, command, { PYTHONPATH: CHECKOUT, ...asked("both") }));
  });
});
