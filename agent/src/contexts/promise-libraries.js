"use strict";

const { bindArguments } = require("./bound-arguments.js");

/*
 * Libraries with promises of their own, which call all callbacks of one turn from whoever came first. Each callback runs in
 * the context in which it was handed over, as those of Node's promises.
 */

/** @typedef {import('./queues.js').Change} Change */

/** Bluebird can do it by itself, since version 3.7; a copy, as Sequelize 5 has one, has settings of its own. @type {Change} */
function bluebird(Bluebird, bindings) {
  Bluebird.config?.({ asyncHooks: true });
  const { getNewLibraryCopy: copy } = Bluebird;
  if (!copy) return;
  Bluebird.getNewLibraryCopy = /** @this {any} */ function () {
    const copied = copy.call(this);
    bluebird(copied, bindings);
    return copied;
  };
}

/** @type {Change} */
function q(Q, bindings) {
  for (const Class of new Set([Q.makePromise, Q.Promise])) bindArguments(Class?.prototype, ["then", "done"], bindings);
}

/** Also its predecessor `es6-promise`, which exports the class itself. @type {Change} */
const rsvp = (exports, bindings) => bindArguments((exports.Promise ?? exports).prototype, ["then"], bindings);

/** Its module makes the class for a scheduler. @type {Change} */
const when =
  (make, bindings) =>
  (/** @type {any[]} */ ...args) => {
    const Promised = make(...args);
    bindArguments(Promised.prototype, ["then", "done"], bindings);
    return Promised;
  };

/** The promise of a job of `workerpool` is settled by an event of the worker, which the first request may have started. @type {Change} */
function workerpool(Pool, bindings) {
  const { exec } = Pool.prototype;
  Pool.prototype.exec = /** @this {any} */ function (/** @type {any[]} */ ...args) {
    const job = exec.apply(this, args);
    bindArguments(job, ["then"], bindings);
    return job;
  };
}

module.exports = { bluebird, q, rsvp, when, workerpool };
