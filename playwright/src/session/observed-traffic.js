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
    /** @type {Map<string, RequestState[]>} requests whose next hop has not come, by client and URL */
    this.awaitedHops = new Map();
    /** @type {Map<string, RequestState[]>} requests without a known hop before them, by client and URL */
    this.unlinked = new Map();
  }

  /**
   * Add a request.
   *
   * @param {{ requestId: string, clientId: string, request: WireRequest, seenAt?: number }} message
   * @returns {[state: RequestState, isNew: boolean]}
   */
  observe({ requestId, clientId, request: wire, seenAt }) {
    const known = this.requests.get(requestId);
    if (known) return [known, false];
    this.sequence += 1;
    const state = new RequestState({ id: requestId, clientId, wire, seenAt, sequence: this.sequence });
    this.requests.set(requestId, state);
    const before = this.awaitedHops.get(placeOf(state, wire.url))?.shift();
    if (before) connect(before, state);
    else add(this.unlinked, placeOf(state, wire.url), state);
    return [state, true];
  }

  /**
   * Set the response of a request.
   *
   * @param {RequestState} state
   * @param {WireResponse} wire
   * @returns {{ response?: ResponseState, hop?: RequestState }} the response, unless the request had one; and the
   *   request that followed its redirect, if that was observed before
   */
  respond(state, wire) {
    const response = new ResponseState(state, wire);
    if (!state.answer(response)) return {};
    const url = response.redirectUrl;
    if (url === undefined) return { response };
    const place = placeOf(state, url);
    const candidates = this.unlinked.get(place) ?? [];
    const at = candidates.findIndex((each) => each.sequence > state.sequence);
    if (at < 0) {
      add(this.awaitedHops, place, state);
      return { response };
    }
    const [hop] = candidates.splice(at, 1);
    connect(state, hop);
    return { response, hop };
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
