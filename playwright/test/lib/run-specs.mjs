/*
 * Runs specs of this repository with our fixtures, in a project as a user has it:
 *
 *   node run-specs.mjs CONFIG [ARGUMENTS OF PLAYWRIGHT]
 *
 * CONFIG is a Playwright configuration by its path in the repository. Proxy, upstream and application run already; the
 * environment says where (tests/support/processes/node_app.py).
 */
import { makeProject } from "./project.mjs";

const E2E = "tests/interop/npm/node";
const [config, ...args] = process.argv.slice(2);

const project = makeProject({
  copied: ["app.mjs", "lib", "playwright.config.mjs", "specs"].map((name) => `${E2E}/${name}`),
  linked: ["agent", `${E2E}/node_modules/@playwright-backend-mocks`],
});
try {
  const { status, output } = await project.run(["--config", config, ...args]);
  process.stdout.write(output);
  process.exitCode = status ?? 1;
} finally {
  project.remove();
}
