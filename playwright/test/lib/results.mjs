/**
 * Read what Playwright's JSON reporter wrote.
 *
 * @param {{ status: number | null, output: string }} run
 */
export function results({ status, output }) {
  const from = output.indexOf("{\n");
  if (from < 0) throw new Error(`Playwright ended with ${status}:\n${output}`);
  const { suites, errors } = JSON.parse(output.slice(from, output.lastIndexOf("}") + 1));
  const tests = suites.flatMap(testsOf);
  const told = ({ title, result }) => `${title}: ${result.errors.map(({ message }) => message).join("\n")}`;
  return {
    status,
    tests,
    passed: tests.filter(({ result }) => result.status === "passed").map(({ title }) => title),
    failed: [...errors.map(({ message }) => message), ...tests.filter(({ ok }) => !ok).map(told)],
  };
}

function testsOf(suite) {
  // A spec has a test for each repeat of it.
  const specs = suite.specs.flatMap(({ title, ok, tests }) =>
    tests.map(({ results: all }) => ({ title, ok, result: all.at(-1) })),
  );
  return [...specs, ...(suite.suites ?? []).flatMap(testsOf)];
}
