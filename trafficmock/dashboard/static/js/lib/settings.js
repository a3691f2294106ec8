// @ts-check
/** What a browser remembers of its user: theme, widths, whether single keys do something. */

const PREFIX = "trafficmock.";

/** @param {string} name @returns {string | null} */
export function remembered(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null; // storage is off; the defaults hold
  }
}

/** @param {string} name @param {string | null} value `null` forgets */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    return; // storage is off; it holds until the page is left
  }
}
