/* The configuration of the tests' projects; what differs comes through the environment. */
import { attached, proxyServer } from "trafficmock-playwright/config";

const { SHOP_PORT, E2E_CHROMIUM, WORKERS = "1", ISOLATION, STRICT, SHOP_KEY, PROXY_ARGS, FIREFOX } = process.env;
const baseURL = `${SHOP_KEY ? "https" : "http"}://127.0.0.1:${SHOP_PORT}`;
const strict = STRICT ? { allow: [STRICT] } : undefined;

// Firefox sends what is for loopback past any proxy, unless it is told not to.
const firefoxUserPrefs = { "network.proxy.allow_hijacking_localhost": true };

export default {
  testDir: "../specs",
  workers: Number(WORKERS),
  fullyParallel: true,
  timeout: 30_000,
  reporter: [["json"]],
  use: {
    baseURL,
    ignoreHTTPSErrors: true,
    ...(FIREFOX
      ? { browserName: "firefox", channel: "moz-firefox", launchOptions: { executablePath: FIREFOX, firefoxUserPrefs } }
      : { launchOptions: { executablePath: E2E_CHROMIUM, args: ["--no-sandbox"] } }),
    ...(strict && { trafficmockStrict: strict }),
    trafficmock: { ...(ISOLATION && { isolation: ISOLATION }) },
  },
  webServer: [
    proxyServer({ strict, args: PROXY_ARGS?.split(" ") }),
    {
      command: "node apps/shop.mjs",
      cwd: "..",
      url: baseURL,
      ignoreHTTPSErrors: true,
      env: { ...attached({ clientId: "shop" }), PORT: SHOP_PORT },
    },
  ],
};
