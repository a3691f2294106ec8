import { runMatrix } from "../lib/matrix.mjs";

runMatrix(
  "ESM",
  async () => (await import("../../index.mjs")).startTrafficMock,
  (name) => import(name),
);
