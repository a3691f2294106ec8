"use strict";

const { randomFillSync } = require("node:crypto");

const ID_BYTES = 8;

/** Random bytes drawn at once: a draw costs 20 µs, whatever its size. */
const pool = Buffer.allocUnsafe(ID_BYTES * 512);
let used = pool.length;

/** @returns {string} an id as protocol 3's agents make them */
function newId() {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString("hex", used - ID_BYTES, used);
}

module.exports = { newId };
