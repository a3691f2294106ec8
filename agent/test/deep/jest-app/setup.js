/* For setupFilesAfterEnv: what attaches each test file, where nothing has attached the process. */
const { startTrafficMock } = require("../../../src/index.js");

let mock;
beforeAll(async () => {
  mock = await startTrafficMock();
});
afterAll(() => mock.stop());
