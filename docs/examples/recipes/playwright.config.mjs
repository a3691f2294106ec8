import { defineConfig } from "@playwright/test";
import { attached, proxyServer } from "trafficmock-playwright/config";

const shop = (clientId, port) => ({
  command: "node shop.mjs",
  port,
  env: { ...attached({ clientId }), PORT: String(port) },
});

export default defineConfig({
  testMatch: "*.spec.mjs",
  use: { baseURL: "http://127.0.0.1:3000", trafficmock: { origins: ["http://127.0.0.1:3001"] } },
  webServer: [proxyServer(), shop("shop", 3000), shop("other-shop", 3001)],
});
