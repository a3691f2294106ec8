import { defineConfig } from "@playwright/test";

export default defineConfig({
  testMatch: "*.spec.mjs",
  reporter: "line",
  workers: 1,
  use: {
    baseURL: "http://127.0.0.1:3000",
    backendMocksProxyUrl: "http://127.0.0.1:4310",
  },
});
