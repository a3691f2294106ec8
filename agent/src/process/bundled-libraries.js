"use strict";

/*
 * Libraries that a bundler has made a part of another file: no module has their exports. A call of ours is written into their
 * text, at places that neither bundlers nor minifiers change: names of properties and texts of errors.
 */

/** The property of the global object that these calls use. Where there is none they do nothing. */
const CALLED = "__trafficmock_library__";

/** How much of a file is searched around a text of a library; characters. */
const AROUND = 20_000;

/** An identifier, also one that a minifier has made. */
const NAME = String.raw`[\w$]+`;

/**
 * @typedef {object} Place
 * @property {string} [near] a text near which it is; that of `sign` if nothing is given
 * @property {number} [before] how far before that text it may begin
 * @property {number} [after] how far behind the beginning of that text it may end
 * @property {RegExp} find
 * @property {string} put what stands in its place, without quotes and line ends, because it may be a text for `eval`;
 *   `CALL(` becomes our call
 * @property {string} [change] the change that gets the arguments of the call, and whose result the call returns
 * @property {ClassChange[]} [classes] the changes of the class whose instance the call gets
 * @property {boolean} [isRepeated] whether the call returns `true` when it has changed a class
 */

/**
 * @typedef {object} ClassChange
 * @property {string} change its name
 * @property {string} method that the class has
 * @property {(prototype: any) => any} exports what the change gets
 */

/**
 * @typedef {object} Library
 * @property {string} name
 * @property {string} sign a text in it that nothing else has, together with those of `beside`
 * @property {string[]} [beside] further texts around the sign, where that is a short word that other code may have:
 *   a library that is found wrongly takes the contexts of the whole process
 * @property {string} [quoted] a further text, which stands in quotes anywhere in the file
 * @property {string} [other] a text of another library that has the sign, too
 * @property {string} file whose change stands for it
 * @property {Place[]} places each must be found
 */

/** @param {string} name that stands in quotes, also in a text for `eval` */
const inQuotes = (name) => new RegExp(String.raw`(["'\x60])${name}\\?\1`);

/** @param {any} prototype */
const asClass = (prototype) => ({ prototype });

/**
 * A place in a constructor.
 * @param {string} property that it assigns, and hardly another one does
 * @param {ClassChange[]} classes
 * @returns {Place}
 */
const inConstructor = (property, ...classes) => ({
  near: `this.${property}`,
  before: 0,
  after: 100,
  find: new RegExp(String.raw`\bthis\.${property}(\s*)=(?!=)(\s*)`, "g"),
  // The call stands on the left, because any expression may follow, and not at the beginning of the statement, because no
  // semicolon may stand before it. The name has no quotes, because the text may be in some.
  put: `this[CALL(this)||/${property}/.source]$1=$2`,
  classes,
});

/**
 * A place at the beginning of a method with one parameter, which calls it again when its class has been changed.
 * @param {ClassChange} change
 * @returns {Place}
 */
const inMethod = (change) => ({
  near: change.method,
  before: 0,
  after: 100,
  find: new RegExp(String.raw`\b${change.method}\s*\((${NAME})\)\s*\{(?!\s*\\?["'])`, "g"),
  put: `${change.method}($1){if(CALL(this))return this.${change.method}($1);`,
  classes: [change],
  isRepeated: true,
});

/** @type {Library[]} */
const LIBRARIES = [
  {
    name: "fastq",
    sign: "fastqueue concurrency must be equal to or greater than 1",
    file: "fastq/queue",
    places: [
      {
        find: new RegExp(String.raw`\b(${NAME})\.callback\s*=\s*(${NAME})\s*\|\|\s*(${NAME})`, "g"),
        put: "$1.callback=CALL($1,$2)||$2||$3",
        change: "fastq:given",
      },
      {
        find: new RegExp(String.raw`\b(${NAME})\.call\((${NAME}),\s*(${NAME})\.value,\s*\3\.worked\)`, "g"),
        put: "Object(CALL($1,$3)||$1).call($2,$3.value,$3.worked)",
        change: "fastq:work",
      },
    ],
  },
  {
    name: "async",
    sign: "Concurrency must not be zero",
    // neo-async, which Handlebars and webpack use, has the texts of async, but works otherwise.
    other: "pickLimit",
    file: "async/queue",
    places: [
      {
        find: new RegExp(
          String.raw`(Concurrency must not be zero\\?["'\x60]\)(?:[;}\s]|\\[nrt])*(?:(?:var|let|const)\s+)?${NAME}\s*=\s*[\w$.,()\s]*?)\((${NAME})\)`,
          "g",
        ),
        put: "$1(CALL($2)||$2)",
        change: "async:worker",
      },
      {
        find: new RegExp(String.raw`\b(${NAME})\._tasks\.(push|unshift)\((${NAME})\)`, "g"),
        put: "$1._tasks.$2(CALL($3)||$3)",
        change: "async:given",
      },
      {
        find: new RegExp(String.raw`\b(${NAME})\._tasks\.shift\(\)`, "g"),
        put: "Object(CALL($1._tasks)||$1._tasks).shift()",
        change: "async:taken",
      },
    ],
  },
  {
    name: "bottleneck",
    sign: "This job has been dropped by Bottleneck",
    file: "bottleneck/lib/Bottleneck",
    places: [
      inConstructor("_addToQueue", { change: "bottleneck/lib/Bottleneck", method: "schedule", exports: asClass }),
    ],
  },
  {
    name: "dataloader",
    sign: "DataLoader must be constructed with a function",
    file: "dataloader/index",
    places: [inConstructor("_batchLoadFn", { change: "dataloader/index", method: "load", exports: asClass })],
  },
  {
    name: "pg-pool",
    sign: "Cannot use a pool after calling end on the pool",
    file: "pg-pool/index",
    places: [inConstructor("_pendingQueue", { change: "pg-pool/index", method: "_pulseQueue", exports: asClass })],
  },
  {
    name: "pg",
    sign: "_handleReadyForQuery",
    beside: ["_handleRowDescription"],
    file: "pg/lib/client",
    places: [
      inConstructor("connectionParameters", {
        change: "pg/lib/client",
        method: "_handleNotification",
        exports: asClass,
      }),
      inConstructor("parsedStatements", { change: "pg/lib/connection", method: "attachListeners", exports: asClass }),
    ],
  },
  {
    name: "p-queue",
    // p-limit has the texts of its errors.
    sign: "carryoverIntervalCount",
    beside: ["to be a number from 1 and up"],
    file: "p-queue/dist/index",
    places: [
      {
        find: /\bthis\.emit\((\\?["'`]add\\?["'`])\)/g,
        put: "this.emit(CALL(this)||$1)",
        classes: [
          { change: "p-queue/dist/index", method: "add", exports: (prototype) => ({ default: { prototype } }) },
        ],
      },
    ],
  },
  {
    name: "redis",
    sign: "handleMessageReply",
    beside: ["isStatusReply"],
    file: "@redis/client/dist/lib/client/pub-sub",
    places: [
      inMethod({
        change: "@redis/client/dist/lib/client/pub-sub",
        method: "handleMessageReply",
        exports: (prototype) => ({ PubSub: { prototype } }),
      }),
    ],
  },
  {
    name: "ioredis",
    sign: "handleSubscriberReply",
    beside: ["handleMonitorReply"],
    file: "ioredis/built/DataHandler",
    places: [
      inMethod({
        change: "ioredis/built/DataHandler",
        method: "handleSubscriberReply",
        exports: (prototype) => ({ default: { prototype } }),
      }),
    ],
  },
  {
    name: "bullmq",
    sign: "maxStartedAttempts must be greater or equal than 0",
    file: "bullmq/dist/cjs/index",
    places: [
      inConstructor("queueQualifiedName", {
        change: "bullmq/dist/cjs/index",
        method: "asJSON",
        exports: (prototype) => ({ Job: { prototype } }),
      }),
      inConstructor("processorAcceptsSignal", {
        change: "bullmq/dist/cjs/index",
        method: "processJob",
        exports: (prototype) => ({ Worker: { prototype } }),
      }),
    ],
  },
  {
    name: "amqplib",
    sign: "dispatchMessage",
    beside: ["unregisterConsumer", "handleDelivery"],
    file: "amqplib/lib/channel",
    places: [
      inConstructor(
        "consumers",
        {
          change: "amqplib/lib/channel",
          method: "dispatchMessage",
          exports: (prototype) => ({ BaseChannel: { prototype } }),
        },
        {
          change: "amqplib/lib/channel_model",
          method: "publish",
          exports: (prototype) => ({ Channel: { prototype } }),
        },
      ),
    ],
  },
  {
    name: "kafkajs",
    sign: "CLUSTER_RETRY",
    beside: ["allowAutoTopicCreation"],
    file: "kafkajs/index",
    places: [
      {
        find: new RegExp(String.raw`\bthis\[(${NAME})\.CLUSTER_RETRY\]\s*=(?!=)\s*`, "g"),
        put: "this[CALL(this)||$1.CLUSTER_RETRY]=",
        classes: [{ change: "kafkajs/index", method: "producer", exports: (prototype) => ({ Kafka: { prototype } }) }],
      },
    ],
  },
  // Its commands are known by their classes, which no text tells from others. Code that uses it has the name of its class without
  // quotes, and may have that of its service, as in the name of a policy.
  {
    name: "@aws-sdk/client-sqs",
    sign: "AmazonSQS",
    quoted: "SQSClient",
    file: "@aws-sdk/client-sqs/dist-cjs/index",
    places: [],
  },
  {
    name: "@aws-sdk/client-sns",
    sign: "AmazonSimpleNotificationService",
    quoted: "SNSClient",
    file: "@aws-sdk/client-sns/dist-cjs/index",
    places: [],
  },
];

/** All places, in the order of their numbers in our calls. */
const PLACES = LIBRARIES.flatMap(({ places }) => places);

/**
 * @param {string} path
 * @param {string} name of a package
 * @returns {boolean} whether the file is one of that package, and so no bundle with it
 */
const isOf = (path, name) => path.replaceAll("\\", "/").includes(`/node_modules/${name}/`);

/**
 * @param {string} source
 * @param {Library} library
 * @returns {boolean} whether the text has the library
 */
function isIn(source, { sign, beside = [], quoted }) {
  for (let at = source.indexOf(sign); at >= 0; at = source.indexOf(sign, at + AROUND)) {
    if (quoted) return inQuotes(quoted).test(source);
    const around = beside.length ? source.slice(Math.max(0, at - AROUND), at + 2 * AROUND) : source;
    if (beside.every((text) => around.includes(text))) return true;
  }
  return false;
}

/**
 * @param {string} code that V8 has compiled, one character for each byte
 * @returns {Library[]} those that it has: it keeps the texts and names of a program, in another order and without quotes
 */
const librariesOf = (code) =>
  LIBRARIES.filter(({ sign, beside = [], quoted = "", other }) => {
    if (!code.includes(sign) || (other && code.includes(other))) return false;
    return [...beside, quoted].every((text) => code.includes(text));
  });

/**
 * Write our calls into the text of a file.
 * @param {string} source
 * @param {string} path
 * @returns {{ source: string, hooked: Library[], unhooked: Library[] }} the text, the libraries that have our calls, and those
 *   whose places are not all there
 */
function withCalls(source, path) {
  /** @type {Library[]} */
  const hooked = [];
  /** @type {Library[]} */
  const unhooked = [];
  let text = source;
  for (const library of LIBRARIES) {
    if (!isIn(source, library) || isOf(path, library.name)) continue;
    let changed = text;
    let isWhole = library.places.length > 0;
    for (const place of library.places) {
      // A text may come here twice: that of a file, and then that of the script into which a loader makes it.
      if (changed.includes(callOf(place))) continue;
      const before = changed;
      changed = withCall(changed, place, place.near ?? library.sign);
      isWhole &&= changed !== before;
    }
    if (isWhole) {
      text = changed;
      hooked.push(library);
    } else if (!library.other || !source.includes(library.other)) unhooked.push(library);
  }
  return { source: text, hooked, unhooked };
}

/**
 * Write our calls into a text that another thread runs.
 * @param {string} text
 * @param {string} [path] of its file, if it has one
 * @returns {string} it; at its end further calls name the libraries whose places are not all there: that thread is the one whose
 *   contexts they mix up
 */
function withNames(text, path) {
  const { source, unhooked } = withCalls(text, "");
  const file = path === undefined ? "" : `,${JSON.stringify(path)}`;
  const names = unhooked.map((library) => `\n;globalThis?.${CALLED}?.(${~LIBRARIES.indexOf(library)}${file})`);
  return source + names.join("");
}

/** @param {Place} place */
const callOf = (place) => `globalThis?.${CALLED}?.(${PLACES.indexOf(place)},`;

/**
 * Write the call of one place. Only what is near a text is searched: bundles have megabytes.
 * @param {string} text
 * @param {Place} place
 * @param {string} near
 */
function withCall(text, place, near) {
  const { find, before = AROUND, after = AROUND } = place;
  const call = callOf(place);
  const put = place.put.replace("CALL(", call);
  const pieces = [];
  let done = 0;
  for (let at = text.indexOf(near); at >= 0; at = text.indexOf(near, Math.max(done, at + 1))) {
    const start = Math.max(done, at - before);
    const end = Math.max(start, at + after);
    pieces.push(text.slice(done, start), text.slice(start, end).replace(find, put));
    done = end;
  }
  return pieces.join("") + text.slice(done);
}

module.exports = { CALLED, LIBRARIES, PLACES, librariesOf, withCalls, withNames };
