// @ts-check
/** Settings in the browser's storage: theme, widths, whether shortcuts of single keys are on. */

const PREFIX = "trafficmock.";

/** @param {string} name @returns {string | null} */
export function remembered(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null; // storage is disabled: use the default
  }
}

/** @param {string} name @param {string | null} value `null` removes the setting */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    return; // storage is disabled: the setting holds until the page is closed
  }
}
