"use strict";

/**
 * What came to a test and what did not, in the proxy's words, for the error of the test.
 *
 * @typedef {import("../session/session.js").Session} Session
 * @typedef {import("../session/http-routes.js").RouteEntry} RouteEntry
 */

/**
 * @param {Session} session
 * @returns {Promise<string[]>} lines: warnings and, if the test has routes, what became of each request, and the routes that
 *   no request met, with the nearest requests
 */
async function trafficLines(session) {
  const { connection, http, warnings } = session;
  if (!http.known.size) return [...warnings];
  // Messages that the proxy sent before, about its own answers, come before its answer.
  await connection.barrier();
  return [...warnings, ...(await asked(session, { unmet: http.live.filter(({ calls }) => !calls) }))];
}

/**
 * @param {Session} session
 * @param {RouteEntry[]} unmet routes that no request met, as far as this process knows
 * @returns {Promise<string[]>} lines about those that none met, with the nearest requests; if nothing came, about the
 *   applications
 */
const unmetLines = (session, unmet) => asked(session, { unmet, onlyUnmet: true });

/**
 * @param {Session} session
 * @param {{ unmet: RouteEntry[], onlyUnmet?: boolean }} what
 * @returns {Promise<string[]>}
 */
async function asked({ attachment, http, registration }, { unmet, onlyUnmet = false }) {
  const text = await registration.diagnosis({
    unmet: unmet.map((entry) => {
      const port = ownPort(attachment, entry);
      return { entry, text: unmetText(entry, port), ownProcess: port !== undefined };
    }),
    routes: Object.fromEntries([...http.known].map(([id, { matcher }]) => [id, String(matcher)])),
    decisions: Object.fromEntries([...http.owned].map(([id, { decision }]) => [id, decision])),
    onlyUnmet,
  });
  return text ? text.split("\n") : [];
}

/**
 * @param {RouteEntry} entry
 * @param {number | undefined} port of the server of this process that it is for
 */
function unmetText({ matcher, name }, port) {
  const hints = [matcher.hint, port === undefined ? "" : notRouted(port)].filter(Boolean);
  return [`no request met the route ${matcher}: ${name}`, ...hints.map((hint) => `  ${hint}`)].join("\n");
}

/**
 * @param {Session["attachment"]} attachment
 * @param {RouteEntry} entry
 * @returns {number | undefined} the port of the server of this process that the route names, if this process called it
 */
function ownPort(attachment, { matcher: { wire } }) {
  const [origin] = /^(?:http|ws)s?:\/\/[^/?#*{]+/.exec(wire.urlGlob ?? "") ?? [];
  return origin && URL.canParse(origin) ? attachment?.calledOwn(new URL(origin)) : undefined;
}

/** @param {number} port */
const notRouted = (port) =>
  `port ${port} is a server of this process; its requests are not routed. Give the client another URL, with a name that is ` +
  "not this machine's, such as http://upstream.test, and let the route's handler ask the server";

/**
 * Add the report to the error of a failed test, which the terminal, the HTML report and `error-context.md` show.
 *
 * @param {import("@playwright/test").TestInfo} testInfo
 * @param {readonly string[]} lines
 */
function addToError({ errors }, lines) {
  const [error] = errors;
  if (!error?.message || !lines.length) return;
  const text = `${error.message}\n\nThe server's traffic:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
  // A stack begins with the message.
  if (error.stack) error.stack = error.stack.replace(error.message, () => text);
  error.message = text;
}

module.exports = { addToError, trafficLines, unmetLines };
