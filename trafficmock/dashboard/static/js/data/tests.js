// @ts-check
/** Names of tests, as the command line writes them. */

/** @typedef {{title: string, file?: string}} Claimant a test that wanted a request */

/**
 * Take the file out of a title: pytest's node ids begin with it, and the name is what one looks for.
 *
 * @param {string} title
 * @returns {string}
 */
export function testName(title) {
  const found = /^[^:]*\.py::(.+)$/s.exec(title);
  return found ? found[1] : title;
}

/**
 * Name the owning test, or those that compete.
 *
 * @param {string | undefined} title of the owner
 * @param {Claimant[]} [matches] those that wanted an ambiguous request
 * @returns {string}
 */
export function testNames(title, matches = []) {
  const titles = title === undefined ? matches.map((match) => match.title) : [title];
  return [...new Set(titles.map(testName))].join(" | ");
}

/**
 * Name the file of the owning test, or the files of those that compete.
 *
 * @param {string | undefined} file of the owner
 * @param {Claimant[]} [matches]
 * @returns {string}
 */
export function testFiles(file, matches = []) {
  const files = file === undefined ? matches.map((match) => match.file ?? "") : [file];
  return [...new Set(files)].filter(Boolean).join(" | ");
}
