import { existsSync } from "node:fs";
import { defineConfig } from "@playwright/test";
import { attached, proxyServer } from "trafficmock-playwright/config";

// Debian's Chromium where there is one; otherwise Playwright's own.
const debian = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);
const launchOptions = debian ? { executablePath: debian } : {};

export default defineConfig({
  testMatch: "*.spec.mjs",
  use: { baseURL: "http://127.0.0.1:3000", launchOptions },
  webServer: [proxyServer(), { command: "node chat.mjs", port: 3000, env: attached({ clientId: "chat" }) }],
});
