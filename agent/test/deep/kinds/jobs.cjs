"use strict";

/* Libraries and streams of one place that keep jobs, and start each from the one that makes room. */
const { EventEmitter, on } = require("node:events");
const { PassThrough, Writable } = require("node:stream");
const { bulkhead } = require("cockatiel");
const { ServiceBroker } = require("moleculer");
const {
  Subject,
  asapScheduler,
  concatMap,
  defer,
  firstValueFrom,
  mergeMap,
  observeOn,
  shareReplay,
  switchMap,
} = require("rxjs");

const soon = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

module.exports = async () => {
  const policy = bulkhead(1, 100);
  const broker = new ServiceBroker({ logger: false, bulkhead: { enabled: true, concurrency: 1, maxQueueSize: 100 } });
  broker.createService({ name: "jobs", actions: { run: ({ params }) => params.one.ask() } });
  await broker.start();

  /** @returns {(one: any) => Promise<string>} gives a job to an observable, which works it off by an operator */
  const through = (operator) => {
    const jobs = new Subject();
    jobs.pipe(operator).subscribe();
    return (one) => new Promise((resolve) => jobs.next({ one, resolve }));
  };
  const work = ({ one, resolve }) => defer(() => one.ask().then(resolve));
  const asap = new Subject();
  asap.pipe(observeOn(asapScheduler)).subscribe(({ one, resolve }) => one.ask().then(resolve));
  const settings = defer(() => soon()).pipe(shareReplay(1));

  const stream = new Writable({
    objectMode: true,
    highWaterMark: 100,
    write: (one, _, done) => void one.ask().then((text) => (one.resolve(text), done())),
  });
  /** By the chunk that names it. */
  const byName = new Map();
  const bytes = new Writable({
    highWaterMark: 1000,
    write(chunk, _, done) {
      const one = byName.get(String(chunk));
      one.ask().then((text) => (one.resolve(text), done()));
    },
  });
  const file = new Writable({ write: (chunk, _, done) => setTimeout(done, 5) });
  const web = new WritableStream({ write: async (one) => one.resolve(await one.ask()) }, { highWaterMark: 100 });
  const writer = web.getWriter();
  const written = (write) => (one) => new Promise((resolve) => write(Object.assign(one, { resolve })));

  const bus = new EventEmitter();
  const loopOver = async (jobs) => {
    for await (const each of jobs) {
      const one = Array.isArray(each) ? each[0] : each;
      one.resolve(await one.ask());
    }
  };
  let listening;
  let lines;
  const jobs = [];
  let wake;
  let loop;
  const workOff = async () => {
    for (;;) {
      for (let one = jobs.shift(); one; one = jobs.shift()) one.resolve(await one.ask());
      await new Promise((resolve) => {
        wake = resolve;
      });
    }
  };

  return {
    "cockatiel, a bulkhead": (one) => policy.execute(one.ask),
    "moleculer, a bulkhead": (one) => broker.call("jobs.run", { one }),
    "rxjs, concatMap": through(concatMap(work)),
    "rxjs, mergeMap with a limit": through(mergeMap(work, 2)),
    "rxjs, asapScheduler": (one) => new Promise((resolve) => asap.next({ one, resolve })),
    "rxjs, shareReplay": (one) => firstValueFrom(settings.pipe(switchMap(one.ask))),
    "a Writable in object mode": written((one) => stream.write(one)),
    "a Writable of bytes": written((one) => {
      byName.set(one.id, one);
      bytes.write(one.id);
    }),
    "a Writable of bytes, a callback of write": written((one) => file.write("x", () => one.ask().then(one.resolve))),
    "a WritableStream of the web": written((one) => writer.write(one)),
    "a PassThrough, read by a loop of the first request": written((one) => {
      if (!lines) void loopOver((lines = new PassThrough({ objectMode: true, highWaterMark: 100 })));
      lines.write(one);
    }),
    "events.on, of the first request": written((one) => {
      listening ??= loopOver(on(bus, "job"));
      bus.emit("job", one);
    }),
    "a loop of the first request that later ones wake": written((one) => {
      jobs.push(one);
      loop ??= workOff();
      wake?.();
    }),
  };
};
