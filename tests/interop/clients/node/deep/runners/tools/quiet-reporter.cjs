/** Says nothing of a test that passed: times differ from run to run. */
module.exports = class {
  onTestResult(_, { failureMessage }) {
    if (failureMessage) process.stderr.write(failureMessage);
  }
};
