/* The configuration of the tests' projects; what differs comes through the environment. */
import { attached, proxyServer } from "trafficmock-playwright/config";

const { SHOP_PORT, E2E_CHROMIUM, WORKERS = "1", ISOLATION, STRICT, SHOP_KEY } = process.env;
const baseURL = `${SHOP_KEY ? "https" : "http"}://127.0.0.1:${SHOP_PORT}`;

export default {
  testDir: "../specs",
  workers: Number(WORKERS),
  fullyParallel: true,
  timeout: 30_000,
  reporter: [["json"]],
  use: {
    baseURL,
    ignoreHTTPSErrors: true,
    launchOptions: { executablePath: E2E_CHROMIUM, args: ["--no-sandbox"] },
    ...(STRICT && { trafficmockStrict: { allow: [STRICT] } }),
    trafficmock: { ...(ISOLATION && { isolation: ISOLATION }) },
  },
  webServer: [
    proxyServer(),
    {
      command: "node apps/shop.mjs",
      cwd: "..",
      url: baseURL,
      ignoreHTTPSErrors: true,
      env: { ...attached({ clientId: "shop" }), PORT: SHOP_PORT },
    },
  ],
};
