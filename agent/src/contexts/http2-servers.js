"use strict";

const http2 = require("node:http2");
const { syncBuiltinESMExports } = require("node:module");

/**
 * Observe the classes of servers of `node:http2`, which Node does not export.
 * @param {(prototype: any) => void} found called once for each class, when its first server has been made
 * @returns {() => void} stops observing
 */
function onServers(found) {
  const module = /** @type {any} */ (http2);
  const seen = new Set();
  const undo = ["createServer", "createSecureServer"].map((name) => {
    const original = module[name];
    /** @this {any} */
    function create(/** @type {any[]} */ ...args) {
      const server = original.apply(this, args);
      const prototype = Object.getPrototypeOf(server);
      if (!seen.has(prototype)) found(prototype);
      seen.add(prototype);
      return server;
    }
    module[name] = create;
    return () => {
      if (module[name] === create) module[name] = original;
    };
  });
  syncBuiltinESMExports();
  return () => {
    for (const act of undo) act();
    syncBuiltinESMExports();
  };
}

module.exports = { onServers };
