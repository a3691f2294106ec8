// For tests in JavaScript: where the shop is, and who starts it and the proxy if they do not run already.
import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";
import { attached, proxyServer } from "trafficmock-playwright/config";

// Debian's Chromium where there is one; otherwise Playwright's own.
const debian = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
const launchOptions = debian ? { executablePath: debian } : {};

export default defineConfig({
  testDir: ".",
  testMatch: "*.spec.mjs",
  fullyParallel: true,
  use: { baseURL: "http://127.0.0.1:3000", launchOptions },
  webServer: [
    proxyServer(),
    { command: "node shop.mjs", port: 3000, reuseExistingServer: true, env: attached({ clientId: "shop" }) },
  ],
});
