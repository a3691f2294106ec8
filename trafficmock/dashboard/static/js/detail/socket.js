// @ts-check
/** The detail of a WebSocket, with the messages of both sides. */

import { OUTCOMES, actionClass } from "../data/actions.js";
import { decode } from "../bodies/bytes.js";
import { jsonTree, readJson } from "../bodies/json.js";
import { hexView, textView } from "../bodies/plain.js";
import { fill, h } from "../lib/dom.js";
import { bytes as size, clock, dateTime, duration } from "../lib/format.js";
import { cut, visible } from "../lib/text.js";
import { copyPart, secretsSwitch, written } from "../copy/written.js";
import { closeButton, noEntry } from "./head.js";
import { ownerView } from "./owner.js";

/** @typedef {import("../../../rest-records.js").WebSocketEntry} WebSocketEntry */
/** @typedef {import("../../../rest-records.js").WebSocketEvent} WebSocketEvent */

const SIDES = /** @type {const} */ ([
  ["", "Both sides"],
  ["client", "From the application"],
  ["server", "To the application"],
]);

/** What happened to the WebSocket, by the detail of its event. @type {Record<string, string>} */
const HAPPENED = {
  observed: "the application opens it",
  matched: "a test handles it",
  passthrough: "no test wanted it: it goes to its server",
  connect: "the handler connects it to its server",
  ensureOpened: "the handler accepts it in place of its server",
};

/** @param {WebSocketEvent} event @returns {string} what happened, in words */
function happened({ kind, detail = "" }) {
  if (kind === "frame") return detail ? "sent by the handler" : "";
  if (kind !== "close") return HAPPENED[detail] ?? [kind, detail].filter(Boolean).join(" · ");
  const [, side, ...rest] = detail.split(" ");
  return [`closed by the ${side === "page" ? "application's side" : "server's side"}`, ...rest].join(" ");
}

export class SocketDetail {
  /** @param {{store: import("../data/store.js").Store, onclose: () => void}} options */
  constructor({ store, onclose }) {
    this.store = store;
    this.onclose = onclose;
    /** @type {WebSocketEntry | null} */
    this.entry = null;
    this.head = h("div", { class: "detail-head" });
    this.search = h("input", {
      type: "search",
      class: "search",
      placeholder: "Filter frames",
      "aria-label": "Filter frames by text",
      oninput: () => this.showFrames(),
    });
    this.side = h(
      "select",
      { "aria-label": "Side", onchange: () => this.showFrames() },
      ...SIDES.map(([value, text]) => h("option", { value }, text)),
    );
    this.pretty = h("input", { type: "checkbox", checked: true, onchange: () => this.showFrames() });
    this.secrets = h("span", {});
    this.count = h("output", { class: "result" });
    this.frames = h("ol", { class: "frames", tabindex: 0, "aria-label": "Frames, oldest first" });
    this.owner = h("div", {});
    this.bar = h(
      "div",
      { class: "frame-bar" },
      this.search,
      this.side,
      h("label", { class: "check" }, this.pretty, "pretty JSON"),
      this.secrets,
      this.count,
    );
    this.element = h(
      "div",
      { class: "detail" },
      this.head,
      h(
        "div",
        { class: "tabpanel", tabindex: 0, role: "group", "aria-label": "Conversation" },
        this.owner,
        this.bar,
        this.frames,
      ),
    );
  }

  /** @param {WebSocketEntry} entry */
  show(entry) {
    this.entry = entry;
    const frames = entry.events.filter((event) => event.kind === "frame");
    const closed =
      entry.closedAt === undefined
        ? entry.outcome === "matched"
          ? "open"
          : ""
        : `closed ${entry.close?.code ?? ""} ${entry.close?.reason ?? ""} after ` +
          duration(entry.closedAt - entry.timestamp);
    fill(
      this.head,
      h(
        "div",
        { class: "detail-title" },
        h(
          "span",
          { class: `badge ${actionClass(entry.outcome)}`, title: OUTCOMES[entry.outcome]?.meaning ?? "" },
          entry.outcome,
        ),
        h("span", { class: "size" }, visible(closed)),
        closeButton(this.onclose),
      ),
      h("h2", { class: "detail-url" }, h("bdi", {}, visible(cut(entry.url, 3000)))),
      h(
        "p",
        { class: "size" },
        [
          dateTime(entry.timestamp),
          `client ${visible(entry.clientId)}`,
          ...(entry.protocols.length ? [visible(entry.protocols.join(", "))] : []),
          `${frames.length} frames${entry.events.length >= 500 ? " (the newest are kept)" : ""}`,
        ].join(" · "),
      ),
    );
    fill(this.secrets, secretsSwitch());
    fill(this.owner, ownerView(entry, this.store.connections.runnerWorkers));
    this.showFrames();
  }

  showFrames() {
    if (!this.entry) return;
    const words = this.search.value.toLowerCase();
    const side = this.side.value;
    const events = this.entry.events.filter(
      (event) =>
        (!side || event.direction === side) &&
        (!words || `${event.data ?? ""}\n${event.detail ?? ""}\n${event.kind}`.toLowerCase().includes(words)),
    );
    this.count.textContent = `${events.length} of ${this.entry.events.length}`;
    fill(this.frames, ...events.reverse().map((event) => this.frame(event)));
  }

  /** @param {WebSocketEvent} event */
  frame(event) {
    const { data } = event;
    const who = { client: "application →", server: "← to the application", system: "" }[
      /** @type {string} */ (event.direction)
    ];
    const length = data === undefined ? "" : size(event.isBase64 ? decode(data).length : new Blob([data]).size);
    const note = [who, length, event.isBase64 ? "binary" : "", happened(event)].filter(Boolean).join(" · ");
    return h(
      "li",
      { class: `frame frame-${event.direction} frame-kind-${event.kind}` },
      h(
        "div",
        { class: "frame-head" },
        h("span", { class: "mono" }, clock(event.timestamp)),
        " ",
        h("span", {}, visible(note)),
        data !== undefined &&
          h(
            "button",
            {
              type: "button",
              class: "copy-one",
              "aria-label": "Copy the frame",
              onclick: () => copyPart(this.frameToWrite(event), "frame"),
            },
            "copy",
          ),
      ),
      event.truncated && h("p", { class: "note" }, "The frame is not kept: --history-bytes."),
      data !== undefined && this.data(data, event.isBase64),
    );
  }

  /** @param {WebSocketEvent} event @returns {Promise<string>} the frame as it may be copied */
  async frameToWrite(event) {
    if (!this.entry) return "";
    const { events } = await written("ws", this.entry);
    return events.find(({ id }) => id === event.id)?.data ?? "";
  }

  /** @param {string} data @param {boolean} [isBase64] */
  data(data, isBase64) {
    if (isBase64) return hexView(decode(data));
    const read = this.pretty.checked && /^\s*[[{]/.test(data) ? readJson(data) : null;
    return read ? jsonTree(read.value) : textView(data);
  }

  /** @param {string} text */
  fail(text) {
    this.entry = null;
    fill(this.head, noEntry(this.onclose));
    fill(this.owner, h("p", { class: "note" }, text));
    fill(this.frames);
  }
}
