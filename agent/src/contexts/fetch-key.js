"use strict";

const { memberOf, withMember } = require("./context-headers.js");

/**
 * Add the context to the headers of calls of a replaced `globalThis.fetch`. A framework such as Next
 * replaces it by a cache, whose keys contain the headers of a call: with the context in them, a test
 * does not get the response that another test mocked.
 * @param {import('../agent.js').Agent} agent
 * @returns {() => void} undoes it
 */
function keyFetch(agent) {
  const descriptor = Object.getOwnPropertyDescriptor(globalThis, "fetch");
  if (!agent.settings.isFetchKeyed || !agent.contexts.isOn || !descriptor?.configurable) return () => {};
  /** @type {WeakMap<object, any>} */
  const originals = new WeakMap();
  const keyed = (/** @type {any} */ original) => {
    if (typeof original !== "function" || originals.has(original)) return original;
    const call = new Proxy(original, {
      apply: (target, self, [input, init, ...rest]) =>
        Reflect.apply(target, self, [input, withKey(agent, input, init), ...rest]),
    });
    originals.set(call, original);
    return call;
  };
  let current = globalThis.fetch;
  const get = () => current;
  const set = (/** @type {any} */ value) => {
    current = keyed(value);
  };
  Object.defineProperty(globalThis, "fetch", { get, set, configurable: true, enumerable: descriptor.enumerable });
  return () => {
    if (Object.getOwnPropertyDescriptor(globalThis, "fetch")?.get !== get) return;
    const value = originals.get(current) ?? current;
    Object.defineProperty(globalThis, "fetch", { ...descriptor, ...("value" in descriptor && { value }) });
  };
}

/**
 * @param {import('../agent.js').Agent} agent
 * @param {any} input of `fetch`
 * @param {any} init of `fetch`
 * @returns {any} `init` with the context added to the headers, if there is one
 */
function withKey(agent, input, init) {
  const context = agent.isAttached ? agent.contexts.current() : undefined;
  if (!context?.isForwarded) return init;
  try {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    if (memberOf(headers.get("baggage") ?? undefined) === context.id) return init;
    headers.set("baggage", withMember(headers.get("baggage"), context.id));
    return { ...init, headers };
  } catch {
    // Invalid headers: the call itself reports them.
    return init;
  }
}

module.exports = { keyFetch };
