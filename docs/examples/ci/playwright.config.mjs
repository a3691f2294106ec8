import { defineConfig } from "@playwright/test";
import { attached, proxyServer } from "trafficmock-playwright/config";

export default defineConfig({
  testMatch: "*.spec.mjs",
  fullyParallel: true,
  globalTimeout: 240_000,
  reporter: [["list"], ["trafficmock-playwright/reporter", { outputFolder: "report" }]],
  use: { baseURL: "http://127.0.0.1:3000", trafficmockStrict: {} },
  webServer: [
    proxyServer({ strict: {} }),
    { command: "node shop.mjs", port: 3000, timeout: 30_000, env: attached({ clientId: "shop" }) },
  ],
});
