// @ts-check
/** Small charts. */

import { REQUEST_ACTIONS } from "../data/actions.js";
import { h, svg } from "../lib/dom.js";
import { clock, zone } from "../lib/format.js";

/** The text of a stacked bar. @param {Record<string, number>} actions */
const words = (actions) =>
  REQUEST_ACTIONS.filter((action) => actions[action])
    .map((action) => `${actions[action]} ${action}`)
    .join(", ");

/** @param {Record<string, number>} actions @param {number} most the largest sum @returns {Element} */
export function stackedBar(actions, most) {
  const width = 200;
  let x = 0;
  const parts = REQUEST_ACTIONS.filter((action) => actions[action]).map((action) => {
    const size = Math.max(3, (actions[action] / most) * width);
    const part = svg("rect", { x, y: 0, width: size, height: 12, class: `bar-action-${action}` });
    x += size + 1;
    return part;
  });
  return svg(
    "svg",
    { viewBox: `0 0 ${width + 20} 12`, role: "img", "aria-label": words(actions), class: "stacked" },
    ...parts,
    svg("title", {}, words(actions)),
  );
}

/** @param {{from: number, to: number, counts: Record<string, number>[]}} sums @returns {Element} */
export function histogram({ from, to, counts }) {
  const height = 76;
  const step = 14;
  const most = Math.max(1, ...counts.map((actions) => Object.values(actions).reduce((sum, count) => sum + count, 0)));
  const bars = counts.flatMap((actions, at) => {
    let y = height;
    return REQUEST_ACTIONS.filter((action) => actions[action]).map((action) => {
      const size = Math.max(2, (actions[action] / most) * (height - 4));
      y -= size;
      return svg(
        "rect",
        { x: at * step + 1, y, width: step - 3, height: size, class: `bar-action-${action}` },
        svg("title", {}, words(actions)),
      );
    });
  });
  const until = `${clock(to).slice(0, 8)} ${zone(to)}`;
  const label = `Requests from ${clock(from)} to ${clock(to)}; at most ${most} in one of ${counts.length} slices`;
  return h(
    "figure",
    { class: "histogram" },
    svg(
      "svg",
      {
        viewBox: `0 0 ${counts.length * step} ${height}`,
        role: "img",
        "aria-label": label,
        preserveAspectRatio: "none",
      },
      ...bars,
    ),
    h("figcaption", {}, h("span", {}, clock(from).slice(0, 8)), h("span", {}, until)),
  );
}
