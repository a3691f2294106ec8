// @ts-check
/** Makes recorded text safe to show: invisible characters become visible signs. */

// Controls except tab and newline, characters that change the direction of text, invisible ones.
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]/g;

/** @param {string} character */
function shown(character) {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/**
 * Replace invisible characters, and those that reorder text, by visible signs.
 *
 * @param {string} text
 */
export function visible(text) {
  return text.replace(UNSEEN, shown);
}

/** The same on one line. @param {string} text */
export function oneLine(text) {
  return visible(text).replace(/\t/g, "␉").replace(/\n/g, "␊");
}

/** Cut a text to a length. @param {string} text @param {number} most characters */
export function cut(text, most) {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
