"use strict";

const { Code, KINDS } = require("./code-reader.js");

/*
 * Libraries that a bundler has made a part of another file: no module has their exports. A call of ours is written into their
 * text, at places that neither bundlers nor minifiers change: names of properties and texts of errors. It is written into code
 * alone, and into the text of a direct `eval`: what a string says is the application's. The patterns see texts of any kind, so
 * what each repeats has a beginning that nothing before it can have, or is short: otherwise a long text takes minutes.
 */

/** The property of the global object that these calls use. Where there is none they do nothing. */
const CALLED = "__trafficmock_library__";

/** How much of a file is searched around a text of a library; characters. */
const AROUND = 20_000;

/** The most parts of a text that look like one place: of more, nothing tells which are of the library. */
const MOST_ALIKE = 100;

/** The longest text of an error: a longer string with the sign of a library is the text of some code. */
const MESSAGE = 256;

/** An identifier, also one that a minifier has made. */
const NAME = String.raw`[\w$]+`;

/** Where one begins. */
const BEGIN = String.raw`(?<![\w$])`;

/** What stands before and behind a string that is evaluated, as webpack writes it. */
const BEFORE_EVALUATED = /(?<![\w$.])eval\s?\)?\s?\(\s?(?:[\w$]{1,60}\.ts\(\s?)?$/;
const AFTER_EVALUATED = /^\s?\)/;

/**
 * @typedef {object} Place
 * @property {string} [near] a text near which it is; that of `sign` if nothing is given
 * @property {number} [before] how far before that text it may begin
 * @property {number} [after] how far behind the beginning of that text it may end
 * @property {RegExp} find
 * @property {string} put what stands in its place, without quotes and line ends, because it may be a text for `eval`;
 *   `CALL(` becomes our call
 * @property {string} [holds] a text that the class around it has
 * @property {boolean} [isInFunction] whether it is in the function that has the sign
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

/** @param {string} name of a method that is defined or assigned */
const asMethod = (name) => new RegExp(String.raw`(?<![\w$])${name}["'\x60]?\s*[(=,]`);

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
  find: new RegExp(String.raw`(?<![\w$.])this\.${property}(\s*)=(?![=>])`, "dg"),
  // The call stands on the left, because any expression may follow, and not at the beginning of the statement, because no
  // semicolon may stand before it. The name has no quotes, because the text may be in some.
  put: `this[CALL(this)||/${property}/.source]$1=`,
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
  find: new RegExp(String.raw`(?<![\w$.]|function\s)${change.method}\s*\((${NAME})\)\s*\{(?!\s*["'])`, "dg"),
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
        find: new RegExp(String.raw`${BEGIN}(${NAME})\.callback\s*=\s*(${NAME})\s*\|\|\s*(${NAME})`, "dg"),
        put: "$1.callback=CALL($1,$2)||$2||$3",
        change: "fastq:given",
        isInFunction: true,
      },
      {
        find: new RegExp(String.raw`${BEGIN}(${NAME})\.call\((${NAME}),\s*(${NAME})\.value,\s*\3\.worked\)`, "dg"),
        put: "Object(CALL($1,$3)||$1).call($2,$3.value,$3.worked)",
        change: "fastq:work",
        isInFunction: true,
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
          String.raw`(Concurrency must not be zero["'\x60]\)[;}\s]{0,200}(?:(?:var|let|const)\s{1,9})?[\w$]{1,99}\s?=\s?[\w$.,() ]{0,99}?)\(([\w$]{1,99})\)`,
          "dg",
        ),
        put: "$1(CALL($2)||$2)",
        change: "async:worker",
      },
      {
        find: new RegExp(String.raw`${BEGIN}(${NAME})\._tasks\.(push|unshift)\((${NAME})\)`, "dg"),
        put: "$1._tasks.$2(CALL($3)||$3)",
        change: "async:given",
      },
      {
        find: new RegExp(String.raw`${BEGIN}(${NAME})\._tasks\.shift\(\)`, "dg"),
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
        find: /(?<![\w$.])this\.emit\((["'`]add["'`])\)/dg,
        put: "this.emit(CALL(this)||$1)",
        holds: "carryoverIntervalCount",
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
        find: new RegExp(String.raw`(?<![\w$.])this\[(${NAME})\.CLUSTER_RETRY\]\s*=(?![=>])`, "dg"),
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
 * A text of code: a file, or a string in it that is evaluated.
 *
 * @typedef {object} Unit
 * @property {string} text
 * @property {Code} code
 * @property {(at: number) => number} place of a character in the file
 */

/** @typedef {{ start: number, end: number, text: string }} Edit what stands in the place of a part of a file */

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
  const found = LIBRARIES.filter((library) => isIn(source, library) && !isOf(path, library.name));
  if (found.length === 0) return { source, hooked, unhooked };
  const units = unitsOf(source, found);
  /** @type {Edit[]} */
  const edits = [];
  for (const library of found) {
    if (units.length > 0 && !units.some((unit) => isMeant(unit, library))) continue;
    // A text may come here twice: that of a file, and then that of the script into which a loader makes it.
    const places = library.places.filter((place) => !source.includes(callOf(place)));
    const own = places.map((place) => units.flatMap((unit) => editsOf(source, unit, place, library.sign)));
    if (library.places.length > 0 && own.every((those) => those.length > 0)) {
      edits.push(...own.flat());
      hooked.push(library);
    } else if (!library.other || !source.includes(library.other)) unhooked.push(library);
  }
  return { source: withEdits(source, edits), hooked, unhooked };
}

/**
 * @param {string} source
 * @param {Library[]} libraries
 * @returns {Unit[]} the file, and the strings in it that are evaluated and have a word of a library; nothing, if it cannot be read
 */
function unitsOf(source, libraries) {
  const code = new Code(source);
  if (!code.isSound) return [];
  const { starts, ends, kinds } = code;
  const words = libraries.flatMap(({ sign, places }) => [sign, ...places.flatMap(({ near = [] }) => near)]);
  const units = [{ text: source, code, place: (/** @type {number} */ at) => at }];
  for (const [index, start] of starts.entries()) {
    const end = ends[index];
    if (kinds[index] !== KINDS.string && source[start] + source[end - 1] !== "``") continue;
    if (!BEFORE_EVALUATED.test(source.slice(Math.max(0, start - 99), start))) continue;
    const raw = source.slice(start + 1, end - 1);
    if (!AFTER_EVALUATED.test(source.slice(end, end + 2))) continue;
    if (!words.some((word) => raw.includes(word))) continue;
    const { text, places } = unescaped(raw);
    const own = new Code(text);
    if (own.isSound) units.push({ text, code: own, place: (at) => start + 1 + places[at] });
  }
  return units;
}

/** What a character behind a backslash stands for, if not for itself. @type {Record<string, string>} */
const ESCAPES = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", 0: "\0", "\n": "", "\r\n": "" };

/** What is behind a backslash. */
const ESCAPED = /x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]{1,6})\}|\r\n|[^]/iy;

/**
 * @param {string} raw what stands between quotes
 * @returns {{ text: string, places: Uint32Array }} what it says, and the place in `raw` of each character of it, and of its end
 */
function unescaped(raw) {
  const places = new Uint32Array(raw.length + 1);
  const parts = [];
  let length = 0;
  for (let at = 0; at < raw.length;) {
    const begin = at;
    let part = raw[at];
    at += 1;
    if (part === "\\") {
      ESCAPED.lastIndex = at;
      const [all = "", ...codes] = ESCAPED.exec(raw) ?? [];
      const code = codes.find((one) => one !== undefined);
      part = code ? String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)) : (ESCAPES[all] ?? all);
      at += all.length;
    }
    for (let unit = 0; unit < part.length; unit += 1) places[length + unit] = begin;
    length += part.length;
    parts.push(part);
  }
  places[length] = raw.length;
  return { text: parts.join(""), places };
}

/**
 * @param {Unit} unit
 * @param {Library} library
 * @returns {boolean} whether the text is code with the library, and not code with a text of it
 */
const isMeant = ({ text, code }, { sign, places }) =>
  placesOf(text, sign).some((at) => {
    const part = code.partAt(at);
    if (part < 0) return true;
    if (!isQuoted(code, part)) return false;
    const said = text.slice(code.starts[part], code.ends[part]);
    return said.length <= MESSAGE && !places.some(({ find }) => said.search(find) >= 0);
  });

/** @param {Code} code @param {number} part @returns {boolean} whether it is one of a string or a template */
const isQuoted = ({ kinds }, part) => kinds[part] === KINDS.string || kinds[part] === KINDS.template;

/**
 * @param {string} text
 * @param {string} word
 * @returns {number[]} the places of the word in the text
 */
function placesOf(text, word) {
  const places = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) places.push(at);
  return places;
}

/**
 * Find one place. Only what is near a text is searched: bundles have megabytes.
 * @param {string} source of the file
 * @param {Unit} unit
 * @param {Place} place
 * @param {string} sign of the library
 * @returns {Edit[]} the calls there; none, if so much looks like it that nothing tells what it is
 */
function editsOf(source, unit, place, sign) {
  const { near = sign, before = AROUND, after = AROUND } = place;
  const { text, code } = unit;
  const put = place.put.replace("CALL(", callOf(place));
  /** @type {[start: number, end: number][]} */
  const ranges = [];
  for (const at of placesOf(text, near)) {
    const last = ranges.at(-1);
    const start = Math.max(0, at - before);
    if (last && start <= last[1]) last[1] = at + after;
    else ranges.push([start, at + after]);
  }
  const edits = [];
  let looked = 0;
  for (const [start, end] of ranges) {
    for (const match of text.slice(start, end).matchAll(place.find)) {
      looked += 1;
      if (looked > MOST_ALIKE) return [];
      const first = start + match.index;
      const last = first + match[0].length;
      if (!isInCode(code, first, last - 1) || !belongs(unit, place, first, sign)) continue;
      const raw = (/** @type {[number, number]} */ [from, to]) =>
        source.slice(unit.place(start + from), unit.place(start + to));
      const { indices = [] } = /** @type {any} */ (match);
      edits.push({
        start: unit.place(first),
        end: unit.place(last),
        text: put.replace(/\$(\d)/g, (_, group) => raw(indices[group])),
      });
    }
  }
  return edits;
}

/**
 * @param {Code} code
 * @param {number} first
 * @param {number} last
 * @returns {boolean} whether the characters from the first to the last one are tokens, the first of which may be the end of a string
 */
function isInCode(code, first, last) {
  const part = code.partAt(first);
  return code.partAt(last) < 0 && (part < 0 || isQuoted(code, part));
}

/**
 * @param {Unit} unit
 * @param {Place} place
 * @param {number} at where something looks like it
 * @param {string} sign of the library
 * @returns {boolean} whether it is in a class with the methods that are changed, or in the function that has the sign
 */
function belongs({ text, code }, { classes, holds = "", isInFunction }, at, sign) {
  if (isInFunction) {
    const owners = placesOf(text, sign)
      .slice(0, MOST_ALIKE)
      .map((one) => code.bodyAt(one, false));
    return owners.some((owner) => !owner || (owner.start < at && at < owner.end));
  }
  if (!classes) return true;
  const { start, end } = code.bodyAt(at, true) ?? { start: Math.max(0, at - AROUND), end: at + AROUND };
  const around = text.slice(start, end);
  return around.includes(holds) && classes.some(({ method }) => asMethod(method).test(around));
}

/**
 * @param {string} source
 * @param {Edit[]} edits
 * @returns {string}
 */
function withEdits(source, edits) {
  const pieces = [];
  let done = 0;
  for (const { start, end, text } of edits.toSorted((one, other) => one.start - other.start)) {
    if (start < done) continue;
    pieces.push(source.slice(done, start), text);
    done = end;
  }
  return pieces.join("") + source.slice(done);
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

module.exports = { CALLED, LIBRARIES, PLACES, librariesOf, withCalls, withNames };
