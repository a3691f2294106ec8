"use strict";

const vm = require("node:vm");

/**
 * The global object of this process or thread. Test runners such as Jest run
 * code in contexts of `node:vm`, where `globalThis` is another object; Node's own
 * functions, for example `fetch`, still belong to this one.
 * @type {typeof globalThis}
 */
const outer = vm.runInThisContext("globalThis");

/** @returns {typeof globalThis[]} the global objects of this code: one, or two within a context of `node:vm` */
const realms = () => [...new Set([outer, globalThis])];

module.exports = { outer, realms };
