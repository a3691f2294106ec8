// @ts-check
/** Names of tests, in the form of the commands' output. */

/** @typedef {{title: string, file?: string}} Claimant a test that claims a request */

/**
 * Remove the file from a title that is a node id of pytest.
 *
 * @param {string} title
 * @returns {string}
 */
export function testName(title) {
  const found = /^[^:]*\.py::(.+)$/s.exec(title);
  return found ? found[1] : title;
}

/**
 * Return the name of the owning test, or of those that claim the request together.
 *
 * @param {string | undefined} title of the owner
 * @param {Claimant[]} [matches] claimants of an ambiguous request
 * @returns {string}
 */
export function testNames(title, matches = []) {
  const titles = title === undefined ? matches.map((match) => match.title) : [title];
  return [...new Set(titles.map(testName))].join(" | ");
}

/**
 * Return the file of the owning test, or the files of those that claim the request together.
 *
 * @param {string | undefined} file of the owner
 * @param {Claimant[]} [matches]
 * @returns {string}
 */
export function testFiles(file, matches = []) {
  const files = file === undefined ? matches.map((match) => match.file ?? "") : [file];
  return [...new Set(files)].filter(Boolean).join(" | ");
}
