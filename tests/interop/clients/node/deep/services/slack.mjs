import { WebClient } from "@slack/web-api";
import { run } from "../../lib/harness.mjs";

const slack = new WebClient("xoxb-test", { logLevel: "error", retryConfig: { retries: 0 } });
const patient = new WebClient("xoxb-test", {
  logLevel: "error",
  retryConfig: { retries: 2, minTimeout: 10, maxTimeout: 20 },
});

await run({
  post: () => slack.chat.postMessage({ channel: "C1", text: "grün" }),
  "post again": () => slack.chat.postMessage({ channel: "C1", text: "again", blocks: [{ type: "divider" }] }),
  refused: () => slack.auth.test(),
  retry: () => patient.chat.postMessage({ channel: "C1", text: "flaky" }),
  parallel: () => Promise.all([1, 2, 3].map((at) => slack.chat.postMessage({ channel: "C1", text: `text ${at}` }))),
});
