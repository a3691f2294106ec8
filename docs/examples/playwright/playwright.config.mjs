import { defineConfig } from "@playwright/test";
import { attached, proxyServer } from "trafficmock-playwright/config";

export default defineConfig({
  testMatch: "*.spec.mjs",
  fullyParallel: true,
  use: {
    baseURL: "http://127.0.0.1:3000",
    // Where the application is. Without it: `baseURL`, and all ports of loopback.
    trafficmock: { origins: ["http://127.0.0.1:*"] },
  },
  webServer: [proxyServer(), { command: "node shop.mjs", port: 3000, env: attached({ clientId: "shop" }) }],
});
