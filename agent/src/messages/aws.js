"use strict";

const { HEADER, baggageOf, contextIn, handle } = require("./message-contexts.js");

/** @typedef {import('../contexts/test-contexts.js').TestContexts} TestContexts */
/** @typedef {import('../contexts/test-contexts.js').TestContext} TestContext */

/** The limits of Amazon SQS, and of SNS where it delivers to it. */
const MOST_ATTRIBUTES = 10;
const MOST_BYTES = 256 * 1024;
/** The member of our header with the name and type of an attribute; bytes, at most. */
const ADDED_BYTES = 128;
/** How a receiver asks for every attribute, or for ours. */
const ASKS_ALL = ["All", ".*", HEADER];

/** Commands that send one message, and those that send a list of them, with the list's name. */
const SENDING = ["SendMessageCommand", "PublishCommand"];
const SENDING_MANY = { SendMessageBatchCommand: "Entries", PublishBatchCommand: "PublishBatchRequestEntries" };

/**
 * Carry the context in the attributes of messages of SQS and SNS.
 * @param {TestContexts} contexts
 * @param {any} module a package of the AWS SDK
 */
function hookAws(contexts, module) {
  const client = (module.SQSClient ?? module.SNSClient).prototype;
  const { send } = client;
  const isA = (/** @type {any} */ command, /** @type {string} */ name) =>
    module[name] !== undefined && command instanceof module[name];
  client.send = function (/** @type {any} */ command, /** @type {any[]} */ ...args) {
    if (SENDING.some((name) => isA(command, name))) {
      return send.call(
        this,
        withInput(
          command,
          sizedInput(command.input, [command.input], contexts, ([one]) => one),
        ),
        ...args,
      );
    }
    for (const [name, list] of Object.entries(SENDING_MANY)) {
      const entries = isA(command, name) && command.input[list];
      if (!Array.isArray(entries)) continue;
      const changed = sizedInput(command.input, entries, contexts, (all) => ({ ...command.input, [list]: all }));
      return send.call(this, withInput(command, changed), ...args);
    }
    if (!isA(command, "ReceiveMessageCommand")) return send.call(this, command, ...args);
    return receive((/** @type {any[]} */ ...given) => send.apply(this, given), command, args, contexts);
  };
}

/**
 * @param {any} command
 * @param {any} input
 * @returns {any} a command of the same kind with another input, or the same one
 */
function withInput(command, input) {
  if (input === command.input) return command;
  return Object.assign(Object.create(Object.getPrototypeOf(command)), command, { input });
}

/**
 * @param {any} input of a command
 * @param {any[]} entries its messages
 * @param {TestContexts} contexts
 * @param {(entries: any[]) => any} made the input of changed messages
 * @returns {any} the input with the context in each message; unchanged where that would be too large
 */
function sizedInput(input, entries, contexts, made) {
  const changed = entries.map((entry) => withAttribute(contexts, entry));
  if (changed.every((entry, at) => entry === entries[at])) return input;
  const size = Buffer.byteLength(JSON.stringify(input)) + entries.length * ADDED_BYTES;
  return size > MOST_BYTES ? input : made(changed);
}

/**
 * @param {TestContexts} contexts
 * @param {any} entry a message
 * @returns {any} it with the context, or the same one: a message has at most ten attributes
 */
function withAttribute(contexts, entry) {
  const attributes = entry?.MessageAttributes ?? {};
  const present = attributes[HEADER];
  if (!present && Object.keys(attributes).length >= MOST_ATTRIBUTES) return entry;
  if (present && present.DataType !== "String") return entry;
  const StringValue = baggageOf(contexts, present?.StringValue);
  if (StringValue === undefined) return entry;
  return { ...entry, MessageAttributes: { ...attributes, [HEADER]: { DataType: "String", StringValue } } };
}

/**
 * Receive messages with their contexts. While no test has one, the call is left as it is.
 * @param {(...args: any[]) => any} send
 * @param {any} command
 * @param {any[]} args options, or a callback, which is left alone
 * @param {TestContexts} contexts
 */
function receive(send, command, args, contexts) {
  if (args.some((one) => typeof one === "function")) return send(command, ...args);
  const names = command.input.MessageAttributeNames ?? [];
  const isAsked =
    contexts.areOriginsWanted === false || names.some((/** @type {string} */ name) => ASKS_ALL.includes(name));
  const asking = isAsked
    ? command
    : withInput(command, { ...command.input, MessageAttributeNames: [...names, HEADER] });
  return send(asking, ...args).then((/** @type {any} */ output) => {
    if (Array.isArray(output?.Messages)) carryList(contexts, output.Messages, isAsked);
    return output;
  });
}

/**
 * Let each message of a list be handled in its context, in `map` and `forEach`. A loop cannot be: what it sets would stay
 * with the code around it, and be the context of later messages.
 * @param {TestContexts} contexts
 * @param {any[]} messages
 * @param {boolean} isAsked whether the application wants to see the attribute
 */
function carryList(contexts, messages, isAsked) {
  const headers = new Map(messages.map((message) => [message, headersOf(message)]));
  if (!isAsked) messages.forEach(removeAttribute);
  for (const name of /** @type {const} */ (["map", "forEach"])) {
    const value = (/** @type {Function} */ act, /** @type {any} */ self) =>
      /** @type {any} */ (Array.prototype[name]).call(
        messages,
        (/** @type {any} */ message, /** @type {number} */ at) =>
          handle(contexts, messageContext(contexts, headers.get(message)), () => act.call(self, message, at, messages)),
      );
    Object.defineProperty(messages, name, { value, enumerable: false, configurable: true, writable: true });
  }
}

/**
 * @param {TestContexts} contexts
 * @param {Record<string, unknown> | undefined} headers of a message
 * @returns {TestContext | undefined} its context; for a message without headers, that of the code around, unless a request
 *   that is over started it
 */
function messageContext(contexts, headers) {
  if (headers) return contextIn(contexts, headers);
  const around = contexts.storage.getStore();
  return around?.closedAt === undefined ? around : undefined;
}

/**
 * @param {any} message
 * @returns {Record<string, unknown> | undefined} its headers. A message of SNS has them in its body
 */
function headersOf({ MessageAttributes, Body }) {
  const value = MessageAttributes?.[HEADER]?.StringValue;
  if (value !== undefined) return { [HEADER]: value };
  if (typeof Body !== "string" || !Body.includes(`"${HEADER}"`)) return undefined;
  try {
    const found = JSON.parse(Body)?.MessageAttributes?.[HEADER]?.Value;
    return typeof found === "string" ? { [HEADER]: found } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {any} message */
function removeAttribute(message) {
  const { MessageAttributes: attributes } = message;
  if (!attributes?.[HEADER]) return;
  delete attributes[HEADER];
  if (Object.keys(attributes).length > 0) return;
  delete message.MessageAttributes;
  delete message.MD5OfMessageAttributes;
}

module.exports = { hookAws };
