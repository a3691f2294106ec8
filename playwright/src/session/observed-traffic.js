"use strict";

const { RequestState } = require("./request-state.js");
const { ResponseState } = require("./response-state.js");

/**
 * @typedef {import("./request-state.js").WireRequest} WireRequest
 * @typedef {import("./response-state.js").WireResponse} WireResponse
 */

/** The requests that the test observed, by id, in the order of their first messages; hops of redirects are linked. */
class ObservedTraffic {
  constructor() {
    /** @type {Map<string, RequestState>} */
    this.requests = new Map();
    this.sequence = 0;
    /** @type {string | undefined} the id of the request of which the proxy told last */
    this.latest = undefined;
    /** @type {Map<string, RequestState[]>} requests whose next hop has not come, by client and URL */
    this.awaitedHops = new Map();
    /** @type {Map<string, RequestState[]>} requests without a known hop before them, by client and URL */
    this.unlinked = new Map();
  }

  /**
   * Add a request, unless it is known.
   *
   * @param {{ requestId: string, clientId: string, request: WireRequest, shownUrl?: string }} message
   */
  observe({ requestId, clientId, request: wire, shownUrl }) {
    const known = this.requests.get(requestId);
    if (known) return known;
    this.sequence += 1;
    this.latest = requestId;
    const state = new RequestState({ id: requestId, clientId, wire, shownUrl, sequence: this.sequence });
    this.requests.set(requestId, state);
    const before = this.awaitedHops.get(placeOf(state, wire.url))?.shift();
    if (before) connect(before, state);
    else add(this.unlinked, placeOf(state, wire.url), state);
    return state;
  }

  /**
   * Set the response of a request that has none, and link it with the next hop.
   *
   * @param {RequestState} state
   * @param {WireResponse} wire
   */
  respond(state, wire) {
    const response = new ResponseState(state, wire);
    if (!state.answer(response)) return;
    const url = response.redirectUrl;
    if (url === undefined) return;
    const place = placeOf(state, url);
    const candidates = this.unlinked.get(place) ?? [];
    const at = candidates.findIndex((each) => each.sequence > state.sequence);
    if (at < 0) add(this.awaitedHops, place, state);
    else connect(state, candidates.splice(at, 1)[0]);
  }
}

/**
 * Make the key by which the hops of a redirect are linked: the client, and the URL.
 * @param {RequestState} state
 * @param {string} url
 */
const placeOf = (state, url) => `${state.clientId}\n${url}`;

/**
 * @param {Map<string, RequestState[]>} map
 * @param {string} place
 * @param {RequestState} state
 */
function add(map, place, state) {
  const states = map.get(place);
  if (states) states.push(state);
  else map.set(place, [state]);
}

/**
 * @param {RequestState} first
 * @param {RequestState} second
 */
function connect(first, second) {
  first.redirectedTo = second;
  second.redirectedFrom = first;
}

module.exports = { ObservedTraffic };
