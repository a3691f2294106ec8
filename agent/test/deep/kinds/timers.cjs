"use strict";

/* Timers, and schedules that work for the whole application. */
const cron = require("node-cron");
const schedule = require("node-schedule");

const EVERY_SECOND = "* * * * * *";
/** How often a schedule asks, and how many times. */
const [TICK_MS, TICKS] = [300, 5];
/** When the first job of a date runs, and how much later each further one does. */
const [DATE_MS, STEP_MS] = [500, 20];

/** @returns {(kind: string, act: () => unknown) => () => void} a tick, for some times */
const ticking = () => {
  const left = new Map();
  return (kind, act) => () => {
    const ticks = left.get(kind) ?? TICKS;
    left.set(kind, ticks - 1);
    if (ticks > 0) act();
  };
};

module.exports = ({ everyone }) => {
  const limited = ticking();
  const tickOf = (kind) => limited(kind, () => everyone(kind));
  /** Begun with the application; they tick once they are asked for. */
  const wanted = new Set();
  const early = (kind, begin) => {
    const tick = tickOf(kind);
    begin(() => wanted.has(kind) && tick());
    return { [kind]: () => void wanted.add(kind) };
  };
  /** Begun by the first request. */
  const begun = new Set();
  const lazy = (kind, begin) => ({
    [kind]: () => {
      if (begun.has(kind)) return;
      begun.add(kind);
      begin(tickOf(kind));
    },
  });
  const afterResponse = (ms) => (one) => {
    one.res.end();
    setTimeout(one.ask, ms);
  };
  let dates = 0;
  const atDate = (one) => {
    dates += 1;
    const at = new Date(Date.now() + DATE_MS + dates * STEP_MS);
    return new Promise((resolve) => schedule.scheduleJob(at, () => one.ask().then(resolve)));
  };
  const staged = (one) => new Promise((resolve) => setTimeout(() => setTimeout(() => one.ask().then(resolve), 5), 5));
  const interval = (tick) => setInterval(tick, TICK_MS);
  const cronOf = (tick) => cron.schedule(EVERY_SECOND, tick);
  const poll = (tick) => {
    const step = () => {
      tick();
      setTimeout(step, TICK_MS);
    };
    setTimeout(step, TICK_MS);
  };
  return {
    "setTimeout, 0.3 s after the response": afterResponse(300),
    "setTimeout, 5 s after the response": afterResponse(5000),
    "a setTimeout that the callback of another one starts": staged,
    "node-schedule, a date": atDate,
    ...early("setInterval of the application", interval),
    ...early("node-cron of the application", cronOf),
    ...early("a poller by setTimeout, of the application", poll),
    ...lazy("setInterval of the first request", interval),
    ...lazy("node-cron of the first request", cronOf),
    ...lazy("a poller by setTimeout, of the first request", poll),
  };
};
