// @ts-check
/** Searches headers, bodies and events by the proxy, because the page does not have them. */

import { ApiError, ask } from "../data/api.js";

/** @typedef {import("../data/filter.js").Filter} Filter */

export class DeepSearch {
  /**
   * @param {string} api
   * @param {string} name of the list in a response
   * @param {() => void} onfound
   */
  constructor(api, name, onfound) {
    this.api = api;
    this.name = name;
    this.onfound = onfound;
    this.asked = "";
    /** @type {Set<string> | null} */
    this.found = null;
  }

  /**
   * @param {Filter} filter
   * @param {string} tag entity tag of the list; if it changes, the search is repeated
   * @returns {Set<string> | null} the ids that were found; `null` if there is no result yet
   */
  find(filter, tag) {
    const words = filter.q.trim();
    if (!filter.deep || !words) {
      this.asked = "";
      this.found = null;
      return null;
    }
    const asked = `${tag} ${words}`;
    if (asked !== this.asked) {
      if (!this.asked.endsWith(` ${words}`)) this.found = null;
      this.asked = asked;
      this.search(words, asked);
    }
    return this.found;
  }

  /** @param {string} words @param {string} asked */
  async search(words, asked) {
    try {
      const answer = await ask(`/api/${this.api}?fields=summary&q=${encodeURIComponent(words)}`);
      if (asked !== this.asked || !answer) return;
      this.found = new Set(answer.body[this.name].map((/** @type {any} */ entry) => entry.id));
      this.onfound();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.asked = ""; // search again when the proxy answers; the poller shows that it does not
    }
  }
}
