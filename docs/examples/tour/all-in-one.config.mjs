import config from "./playwright.config.mjs";

// Playwright starts these in this order, and ends them after the tests.
export default {
  ...config,
  webServer: [
    { command: "trafficmock serve --port 4310", url: "http://127.0.0.1:4310/health" },
    { command: "npm start", port: 3000 },
  ],
};
