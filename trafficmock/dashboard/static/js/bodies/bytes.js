// @ts-check
/** Decodes recorded bodies, and detects their content types. */

/** Content types of pictures that may be shown. SVG is not among them: it can contain scripts. */
const PICTURES = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "image/avif",
  "image/bmp",
  "image/x-icon",
  "image/vnd.microsoft.icon",
];

/** @param {string | null | undefined} base64 @returns {Uint8Array<ArrayBuffer>} */
export function decode(base64) {
  if (!base64) return new Uint8Array();
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** @param {Record<string, string>} headers @returns {{type: string, charset: string}} */
export function contentType(headers) {
  const entry = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type");
  const [type, ...parameters] = (entry?.[1] ?? "").split(";");
  const charset = parameters.map((text) => /^\s*charset="?([^"\s]+)/i.exec(text)?.[1]).find(Boolean);
  return { type: type.trim().toLowerCase(), charset: charset ?? "utf-8" };
}

/** @param {string} type */
export function isPicture(type) {
  return PICTURES.includes(type);
}

/** @param {Uint8Array} bytes @param {string} charset @returns {string} */
export function text(bytes, charset) {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // an unknown character set
  }
}

/** Return whether bytes are probably not text. @param {Uint8Array} bytes */
export function isBinary(bytes) {
  const start = bytes.subarray(0, 2000);
  let odd = 0;
  for (const byte of start) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) odd++;
  if (odd * 20 > start.length) return true;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, 2000), { stream: true });
    return false;
  } catch {
    return start.length > 0 && odd > 0;
  }
}
