// @ts-check
/** The timeline of a request, as a picture and as a table. */

import { h, svg } from "../lib/dom.js";
import { clock, duration } from "../lib/format.js";
import { visible } from "../lib/text.js";

/** @typedef {import("../../../rest-records.js").HttpEntry} HttpEntry */

const WIDTH = 640;
const LEFT = 96;
const RIGHT = 20;
const LANE = 34;
const TOP = 30;

/** @type {Record<string, string>} */
const WORDS = {
  observed: "the application asked",
  fulfill: "the test answered",
  continue: "the test let it go on",
  abort: "it was made to fail",
  passthrough: "sent to the real network",
  error: "it failed",
  response: "a response came",
  upstream_error: "upstream failed",
  piece: "the test sent a part",
  end: "the answer ended",
  broken_off: "the answer broke off",
  fault_unreached: "the answer was whole",
  trailers_dropped: "trailers were left out",
};

/** @param {HttpEntry} entry */
export function timelineTab(entry) {
  const { events } = entry;
  if (!events.length) return [h("p", { class: "note" }, "Nothing is known of it.")];
  const start = events[0].timestamp;
  return [
    h("figure", { class: "timeline" }, picture(entry, start)),
    h(
      "table",
      { class: "events" },
      h(
        "thead",
        {},
        h("tr", {}, ...["Time", "After", "What", "Detail"].map((title) => h("th", { scope: "col" }, title))),
      ),
      h(
        "tbody",
        {},
        ...events.map((event) =>
          h(
            "tr",
            {},
            h("td", { class: "mono" }, clock(event.timestamp)),
            h("td", { class: "mono" }, `+${duration(event.timestamp - start)}`),
            h("td", {}, visible(WORDS[event.kind] ?? event.kind)),
            h("td", {}, visible(event.detail ?? "")),
          ),
        ),
      ),
    ),
  ];
}

/** @param {HttpEntry} entry @param {number} start */
function picture(entry, start) {
  const { events } = entry;
  const end = Math.max(events[events.length - 1].timestamp, start + (entry.durationMs ?? 0), start + 1);
  const x = (/** @type {number} */ at) => LEFT + ((at - start) / (end - start)) * (WIDTH - LEFT - RIGHT);
  const decision = events.find((event) => !["observed", "response", "upstream_error"].includes(event.kind));
  const last = events[events.length - 1];
  const outside = entry.action === "passthrough" || entry.action === "continue";
  const lanes = [
    ["waits", start, decision?.timestamp ?? end, `action-${entry.action}`],
    ...(outside && decision ? [["upstream", decision.timestamp, last.timestamp, "upstream"]] : []),
  ];
  const height = TOP + lanes.length * LANE + 16;
  const label = `From the request to the last event: ${duration(end - start)}; ${told(events).join(", ")}`;
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label, class: "timeline-picture" },
    ...ticks(end - start, x, start, height),
    ...lanes.map(([name, from, to, kind], lane) =>
      bar(String(name), x(Number(from)), x(Number(to)), lane, String(kind), Number(to) - Number(from)),
    ),
    ...events.map((event) =>
      svg(
        "line",
        {
          x1: x(event.timestamp),
          x2: x(event.timestamp),
          y1: TOP - 6,
          y2: height - 16,
          class: `mark mark-${event.kind}`,
        },
        svg("title", {}, `${WORDS[event.kind] ?? event.kind}, +${duration(event.timestamp - start)}`),
      ),
    ),
  );
}

/**
 * @param {HttpEntry["events"]} events
 * @returns {string[]} what happened; a repeated event is told once, with its count
 */
function told(events) {
  /** @type {{ word: string, count: number }[]} */
  const runs = [];
  for (const { kind } of events) {
    const word = WORDS[kind] ?? kind;
    const last = runs[runs.length - 1];
    if (last?.word === word) last.count += 1;
    else runs.push({ word, count: 1 });
  }
  return runs.map(({ word, count }) => (count > 1 ? `${word} (${count} times)` : word));
}

/** @param {number} span @param {(at: number) => number} x @param {number} start @param {number} height */
function ticks(span, x, start, height) {
  const rough = span / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough) ?? power;
  const found = [];
  for (let at = 0; at <= span; at += Math.max(1, step)) {
    found.push(
      svg("line", { x1: x(start + at), x2: x(start + at), y1: TOP - 8, y2: height - 16, class: "tick" }),
      svg("text", { x: x(start + at), y: TOP - 13, class: "tick-text", "text-anchor": "middle" }, duration(at)),
    );
  }
  return found;
}

/**
 * @param {string} name
 * @param {number} from
 * @param {number} to
 * @param {number} lane
 * @param {string} kind
 * @param {number} span
 */
function bar(name, from, to, lane, kind, span) {
  const y = TOP + lane * LANE;
  const inside = to - from > 90;
  return svg(
    "g",
    {},
    svg("text", { x: LEFT - 10, y: y + 18, class: "lane-text", "text-anchor": "end" }, name),
    svg("rect", { x: from, y: y + 3, width: Math.max(3, to - from), height: 22, rx: 4, class: `bar bar-${kind}` }),
    svg(
      "text",
      { x: inside ? from + 8 : Math.min(to + 6, WIDTH - 60), y: y + 18, class: inside ? "bar-text" : "lane-text" },
      duration(span),
    ),
  );
}
