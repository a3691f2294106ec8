/** A test worker with the npm fixture's own parts: one handler that fulfils, until stdin closes. */
import { connectPlaywrightProxy, createBackendMocks, sendAndWaitForAck } from "@playwright-backend-mocks/playwright";
import { announce, endWithParent } from "./lib/announce.mjs";

const connection = await connectPlaywrightProxy({ proxyUrl: process.env.APP_PROXY_URL, workerId: "0" });
const test = { testId: "speed", title: "speed", file: "speed.mjs", workerId: "0" };
await sendAndWaitForAck(
  connection,
  { type: "test:register", ...test },
  (message) => message.type === "test:registered",
);
const mocks = createBackendMocks({ connection, testId: test.testId });
await mocks.route("**/mock", (route) => route.fulfill({ json: { mocked: true } }));
endWithParent();
announce({ ready: true });
