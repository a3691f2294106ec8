/* For setupFiles, where there is no afterAll: the next test file's context replaces what this one attached. */
const { startTrafficMock } = require("../../../src/index.js");

module.exports = async () => {
  await startTrafficMock();
};
