/* The packages as npm packs them, in an empty project: strict TypeScript, as ES modules and as CommonJS. */
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort, runProgram } from "../lib/project.mjs";
import { results } from "../lib/results.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PACKED = join(ROOT, "playwright", "test", "packed");
const SHOP = join(ROOT, "docs", "examples", "playwright", "shop.mjs");

test("packed, installed, type-checked and run", async (t) => {
  const place = mkdtempSync(join(tmpdir(), "trafficmock-packed-"));
  t.after(() => rmSync(place, { recursive: true }));
  const tarballs = await pack(join(place, "checkout"));
  const project = join(place, "project");
  cpSync(PACKED, project, { recursive: true });
  const port = String(await freePort());
  writeFileSync(join(project, "shop.mjs"), readFileSync(SHOP, "utf8").replace("3000", port));
  // A file's ending says which of the two kinds of module it is.
  for (const name of ["prices.spec", "playwright.config"]) {
    cpSync(join(project, `${name}.mts`), join(project, `${name}.cts`));
  }
  const versions = ["@playwright/test@latest", "typescript@5", "@types/node@20"];
  await succeed(project, ["npm", "init", "--yes"]);
  await succeed(project, ["npm", "install", "--save-dev", "--no-audit", "--no-fund", ...versions, ...tarballs]);

  await succeed(project, [process.execPath, "node_modules/typescript/bin/tsc", "-p", "."]);
  for (const kind of ["mts", "cts"]) {
    const env = { SHOP_PORT: port, TRAFFICMOCK_PROXY_URL: `http://127.0.0.1:${await freePort()}` };
    const runner = [process.execPath, "node_modules/@playwright/test/cli.js", "test"];
    const args = ["--config", `playwright.config.${kind}`, `prices.spec.${kind}`];
    const ended = results(await runProgram(project, [...runner, ...args], env));
    assert.deepEqual(ended.failed, []);
    assert.equal(ended.passed.length, 5);
  }
});

test("without Playwright the core is installed, type-checked and loaded", async (t) => {
  const place = mkdtempSync(join(tmpdir(), "trafficmock-packed-"));
  t.after(() => rmSync(place, { recursive: true }));
  const tarballs = await pack(join(place, "checkout"));
  const project = join(place, "project");
  cpSync(join(PACKED, "tsconfig.json"), join(project, "tsconfig.json"));
  writeFileSync(
    join(project, "core.mts"),
    `import { attachSelf, connect, type ConnectedTrafficMock, type SelfAttachment } from "trafficmock-playwright/core";
     import { attached, proxyServer } from "trafficmock-playwright/config";
     const begin = (title: string): Promise<ConnectedTrafficMock> => connect({ title, attachSelf: true });
     const self = (): Promise<SelfAttachment> => attachSelf({ clientId: "shop", ignoreHosts: ["localhost:5432"] });
     const price = (mocks: ConnectedTrafficMock): Promise<number> => mocks.run(async () => 1);
     // @ts-expect-error a title is needed
     export const parts = [begin, self, price, attached, proxyServer, () => connect({})];\n`,
  );
  await succeed(project, ["npm", "init", "--yes"]);
  const versions = ["typescript@5", "@types/node@20"];
  await succeed(project, ["npm", "install", "--save-dev", "--no-audit", "--no-fund", ...versions, ...tarballs]);
  assert.ok(!existsSync(join(project, "node_modules", "@playwright")));

  const compiler = [process.execPath, "node_modules/typescript/bin/tsc", "-p", "."];
  await succeed(project, [...compiler, "--noEmit", "false"]);
  await succeed(project, [process.execPath, "core.mjs"]);
});

/**
 * Pack a copy: packing writes into `package.json`, which other tests read.
 * @returns {Promise<string[]>} the tarballs' paths
 */
async function pack(checkout) {
  const isSource = (path) => !["node_modules", "test", "dist", "__pycache__"].includes(basename(path));
  // It has the version, and writes the page of reports.
  cpSync(join(ROOT, "trafficmock"), join(checkout, "trafficmock"), { recursive: true, filter: isSource });
  for (const name of ["agent", "playwright"]) {
    const directory = join(checkout, name);
    cpSync(join(ROOT, name), directory, { recursive: true, filter: isSource });
    await succeed(directory, ["npm", "pack", "--pack-destination", checkout]);
  }
  const tarballs = readdirSync(checkout).filter((name) => name.endsWith(".tgz"));
  assert.equal(tarballs.length, 2);
  return tarballs.map((name) => join(checkout, name));
}

async function succeed(cwd, argv) {
  const { status, output } = await runProgram(cwd, argv);
  assert.equal(status, 0, `${argv.join(" ")} ended with ${status}:\n${output}`);
}
