// @ts-check
/** Quotes text for a shell, JavaScript and Python. */

/** @param {string} text @returns {string} one word of a POSIX shell */
export function shell(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;

  if (!/[\u0000-\u001f\u007f]/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;

  const escaped = text
    .replace(/[\\']/g, "\\$&")
    .replace(/[\u0000-\u001f\u007f]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
  return `$'${escaped}'`;
}

/** @param {string} text @returns {string} a string literal of JavaScript and JSON */
export function js(text) {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** @param {string} text @returns {string} a string literal of Python */
export function python(text) {
  return js(text).replaceAll("\\/", "/");
}

/** @param {any} value JSON @param {string} [indent] @returns {string} a literal of Python */
export function pythonValue(value, indent = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return python(value);
  if (typeof value !== "object") return String(value);
  const inner = `${indent}    `;
  const parts = Array.isArray(value)
    ? value.map((item) => `${inner}${pythonValue(item, inner)},\n`)
    : Object.entries(value).map(([key, item]) => `${inner}${python(key)}: ${pythonValue(item, inner)},\n`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return parts.length ? `${open}\n${parts.join("")}${indent}${close}` : open + close;
}

/** @param {string} url @returns {string} a glob that matches exactly this URL */
export function glob(url) {
  return url.replace(/[*{}\\]/g, "\\$&");
}
