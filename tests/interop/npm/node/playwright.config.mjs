import { defineConfig } from "@playwright/test";

/** One spec file a run; what else the run needs comes through the environment. */
export default defineConfig({
  testDir: "./specs",
  outputDir: process.env.E2E_OUTPUT ?? "./test-results",
  workers: Number(process.env.E2E_WORKERS ?? 1),
  fullyParallel: process.env.E2E_WORKERS !== undefined,
  timeout: 20_000,
  expect: { timeout: 8_000 },
  reporter: [["json"]],
});
