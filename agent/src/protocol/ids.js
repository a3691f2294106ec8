"use strict";

const { randomFillSync } = require("node:crypto");

const ID_BYTES = 8;

/** Random bytes for many ids: each call of `randomFillSync` costs 20 µs, whatever its size. */
const pool = Buffer.allocUnsafe(ID_BYTES * 512);
let used = pool.length;

/** @returns {string} a random id, 16 hexadecimal digits */
function newId() {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString("hex", used - ID_BYTES, used);
}

module.exports = { newId };
