// @ts-check
/** Shows one body as picture, JSON, form, text or bytes; its content is never executed. */

import { fill, h } from "../lib/dom.js";
import { saveBlob } from "../lib/download.js";
import { bytes as size } from "../lib/format.js";
import { copyPart, unlessGone } from "../copy/written.js";
import { contentType, decode, isBinary, isPicture, text } from "./bytes.js";
import { foldAll, jsonTree, readJson } from "./json.js";
import { formView, hexView, textView } from "./plain.js";

const FORM = "application/x-www-form-urlencoded";

/**
 * @typedef {object} Message
 * @property {Record<string, string>} headers
 * @property {string | null} [bodyBase64]
 * @property {boolean} [truncated] whether the history did not keep the whole body
 * @property {number} [bodySize] bytes of the whole body, with `truncated`
 * @property {boolean} [bodyPending] whether the body is still arriving
 */

/**
 * @param {Message} message
 * @param {string} what as in "Request body"
 * @param {() => Promise<Message>} toWrite returns the message as it may be copied and saved
 * @returns {HTMLElement}
 */
export function bodyView(message, what, toWrite) {
  const bytes = decode(message.bodyBase64);
  const note = incomplete(message, bytes.length);
  if (!bytes.length) return h("p", { class: "note" }, note || "No body.");
  const { type, charset } = contentType(message.headers);
  const content = async () => decode((await toWrite()).bodyBase64);
  const ways = waysToShow(bytes, type, charset);
  const place = h("div", { class: "body-content" });
  const buttons = ways.map(({ name }) =>
    h("button", { type: "button", class: "way", onclick: () => choose(name) }, name),
  );
  const choose = (/** @type {string} */ wanted) => {
    ways.forEach(({ name, show }, at) => {
      buttons[at].setAttribute("aria-pressed", String(name === wanted));
      if (name === wanted) fill(place, show());
    });
  };
  choose(ways[0].name);
  return h(
    "section",
    { class: "body", "aria-label": what },
    h(
      "div",
      { class: "body-bar" },
      h("span", { class: "ways", role: "group", "aria-label": `Ways to show the ${what.toLowerCase()}` }, ...buttons),
      h("span", { class: "size" }, `${size(bytes.length)}${type ? ` · ${type}` : ""}`),
      h(
        "button",
        { type: "button", class: "quiet", onclick: () => copyPart(plain(content(), charset), what.toLowerCase()) },
        "Copy body",
      ),
      h(
        "button",
        { type: "button", class: "quiet", onclick: () => unlessGone(save(content(), what), "saved") },
        "Save",
      ),
    ),
    note && h("p", { class: "note" }, note),
    place,
  );
}

/**
 * Return a sentence about the part of a body that was not kept; empty if the body is whole.
 *
 * @param {Message} message
 * @param {number} kept bytes that were kept
 */
function incomplete({ truncated, bodySize, bodyPending }, kept) {
  if (bodyPending) return "The body is still arriving.";
  if (!truncated) return "";
  const whole = bodySize === undefined ? "" : ` of ${size(bodySize)}`;
  if (!kept) return `The body${whole} is not kept: the history has bounds (--history-bytes, --history-body-bytes).`;
  return `Only its beginning is kept: ${size(kept)}${whole} (--history-body-bytes).`;
}

/** Return the size of a body as text. @param {Message} message */
export function bodySize(message) {
  if (message.bodyPending) return "still arriving";
  if (!message.truncated) return size(decode(message.bodyBase64).length);
  return message.bodySize === undefined ? "not all kept" : `${size(message.bodySize)}, not all kept`;
}

/**
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {string} type
 * @param {string} charset
 * @returns {{name: string, show: () => Node}[]} the default first
 */
function waysToShow(bytes, type, charset) {
  const hex = { name: "Hex", show: () => hexView(bytes) };
  if (isPicture(type)) return [{ name: "Picture", show: () => picture(bytes, type) }, hex];
  const binary = isBinary(bytes);
  const asText = { name: "Text", show: () => textView(text(bytes, charset)) };
  const plain = binary ? [hex, asText] : [asText, hex];
  if (type === FORM) return [{ name: "Form", show: () => formView(text(bytes, charset)) }, ...plain];
  const mayBeJson = type.includes("json") || (!binary && /^\s*[[{]/.test(text(bytes.subarray(0, 64), charset)));
  const read = mayBeJson ? readJson(text(bytes, charset)) : null;
  return read ? [{ name: "JSON", show: () => foldable(read.value) }, ...plain] : plain;
}

/** @param {any} value */
function foldable(value) {
  const tree = jsonTree(value);
  return h(
    "div",
    {},
    h(
      "div",
      { class: "fold-bar" },
      h("button", { type: "button", class: "quiet", onclick: () => foldAll(tree, true) }, "Unfold all"),
      h("button", { type: "button", class: "quiet", onclick: () => foldAll(tree, false) }, "Fold all"),
    ),
    tree,
  );
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {string} type */
function picture(bytes, type) {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  const note = h("figcaption", {});
  const image = h("img", {
    src: url,
    alt: "The recorded picture",
    onload: () => {
      note.textContent = `${image.naturalWidth} × ${image.naturalHeight}`;
      URL.revokeObjectURL(url);
    },
    onerror: () => {
      note.textContent = "This is no picture that the browser can show.";
      URL.revokeObjectURL(url);
    },
  });
  return h("figure", { class: "picture" }, image, note);
}

/** @param {Promise<Uint8Array<ArrayBuffer>>} bytes @param {string} charset */
const plain = async (bytes, charset) => text(await bytes, charset);

/** @param {Promise<Uint8Array<ArrayBuffer>>} bytes @param {string} what */
async function save(bytes, what) {
  saveBlob(
    new Blob([await bytes], { type: "application/octet-stream" }),
    `${what.toLowerCase().replace(/\W+/g, "-")}.bin`,
  );
}
