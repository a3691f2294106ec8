// @ts-check
/** The actions of requests and outcomes of WebSockets, with their words and meanings. */

import { run } from "./saved.js";

/** What everything in a HAR has, which does not say who decided. @type {Record<string, {word: string, meaning: string}>} */
const RECORDED = run?.har === undefined ? {} : { recorded: { word: "recorded", meaning: "An entry of a HAR" } };

/** @type {Record<string, {word: string, meaning: string}>} */
export const ACTIONS = {
  error: { word: "error", meaning: "Failed: nobody could decide, or more than one test wanted it" },
  passthrough: { word: "passthrough", meaning: "Went to the real network: no test wanted it" },
  abort: { word: "abort", meaning: "A test made it fail, or the application gave it up" },
  continue: { word: "continue", meaning: "A test let it go on, perhaps changed" },
  fulfill: { word: "fulfill", meaning: "A test answered it" },
  pending: { word: "pending", meaning: "Waits for a decision" },
  ...RECORDED,
};

/** @type {Record<string, {word: string, meaning: string}>} */
export const OUTCOMES = {
  error: { word: "error", meaning: "Failed" },
  passthrough: { word: "passthrough", meaning: "Went to the real server: no test wanted it" },
  matched: { word: "matched", meaning: "A test handles it" },
  pending: { word: "pending", meaning: "Waits for a decision" },
  ...RECORDED,
};

export const REQUEST_ACTIONS = Object.keys(ACTIONS);
export const SOCKET_OUTCOMES = Object.keys(OUTCOMES);

/** @param {string} action */
export function actionClass(action) {
  return action in ACTIONS || action in OUTCOMES ? `action-${action}` : "action-pending";
}
