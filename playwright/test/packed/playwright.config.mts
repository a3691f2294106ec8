/* The configuration of a strict TypeScript project. SHOP_PORT is where the shop listens. */
import { defineConfig } from "@playwright/test";
import type { TrafficMockUse } from "trafficmock-playwright";
import { attached, proxyServer } from "trafficmock-playwright/config";

const port = Number(process.env["SHOP_PORT"]);

export default defineConfig<TrafficMockUse>({
  fullyParallel: true,
  workers: 2,
  reporter: "json",
  use: {
    baseURL: `http://127.0.0.1:${port}`,
    trafficmock: { isolation: "required", traffic: "off" },
    trafficmockStrict: { allow: ["auth.example"] },
  },
  webServer: [proxyServer(), { command: "node shop.mjs", port, env: attached({ clientId: "shop" }) }],
});
