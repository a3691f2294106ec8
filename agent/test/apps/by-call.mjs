import { startTrafficMock } from "trafficmock-agent";

const mock = await startTrafficMock({ clientId: "prices" });
// Imported after the call, so that nothing is taken out of a library before it.
await import("./plain.mjs");
process.once("SIGTERM", async () => {
  await mock.stop();
  process.exit();
});
