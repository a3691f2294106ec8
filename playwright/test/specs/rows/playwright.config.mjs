import { defineConfig } from "@playwright/test";

/** All rows in one worker: they share one application, and tell each other's traffic apart by its URLs. */
export default defineConfig({
  testDir: ".",
  outputDir: process.env.E2E_OUTPUT ?? "./test-results",
  workers: 1,
  timeout: 20_000,
  expect: { timeout: 8_000 },
  reporter: [["json"]],
});
