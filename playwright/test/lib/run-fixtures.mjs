import { existsSync, readFileSync } from "node:fs";
import { freePort, makeProject } from "./project.mjs";
import { results } from "./results.mjs";

export const CHROMIUM =
  process.env.E2E_CHROMIUM ?? ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);

/**
 * Run the specs of the fixtures in a project of their own, with a proxy and a shop of their own.
 *
 * @param {string[]} args of Playwright's runner
 * @param {Record<string, string>} [env] see `apps/playwright.config.mjs`
 * @param {object} [options] of the project
 */
export async function runFixtures(args, env = {}, options = {}) {
  const project = makeProject({ specs: "fixtures", ...options });
  try {
    const ended = results(await project.run(...(await surroundings(args, env))));
    // The project goes, and with it the files that are attached.
    for (const each of ended.tests.flatMap(({ result }) => result.attachments)) {
      if (/^server-traffic\.|^error-context$/.test(each.name)) each.body = readFileSync(each.path).toString("base64");
    }
    return ended;
  } finally {
    project.remove();
  }
}

/** Begin the same, for a test that does something meanwhile; the surroundings are there as well. */
export async function beginFixtures(args, env = {}, options = {}) {
  const project = makeProject({ specs: "fixtures", ...options });
  const [argv, all] = await surroundings(args, env);
  const run = project.begin(argv, all);
  const stop = async () => {
    await run.stop();
    project.remove();
  };
  return { ...run, stop, place: project.place, env: all };
}

async function surroundings(args, env) {
  const ports = {
    TRAFFICMOCK_PROXY_URL: `http://127.0.0.1:${await freePort()}`,
    SHOP_PORT: String(await freePort()),
  };
  return [["--config", "apps/playwright.config.mjs", ...args], { E2E_CHROMIUM: CHROMIUM, ...ports, ...env }];
}
