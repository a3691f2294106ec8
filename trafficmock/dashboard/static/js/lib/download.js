// @ts-check
/** Saves files that the page makes. */

const KEPT_MS = 1000;

/** Save bytes as a file by the browser's download. @param {Blob} blob @param {string} name */
export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
