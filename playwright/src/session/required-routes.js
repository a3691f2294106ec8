"use strict";

const { UnmetRouteError } = require("../errors.js");
const { raisedAt, written } = require("./call-site.js");
const { unmetLines } = require("../report/traffic-report.js");

/**
 * Add an error to a test for the required routes that no request has met. Routes that the test has removed do not count.
 *
 * @param {import("./session.js").Session} session
 */
async function checkRequired(session) {
  const { http, connection } = session;
  const missed = () => http.live.filter(({ required, calls }) => required && !calls);
  // The end of the test reports that the connection is lost.
  if (!missed().length || connection.lost) return;
  // Messages that the proxy sent before, about its own answers, come before its answer.
  await connection.barrier();
  const unmet = missed();
  if (!unmet.length) return;
  const lines = await unmetLines(session, unmet);
  if (!lines.length) return;
  const error = new UnmetRouteError(lines.join("\n"));
  session.errors.add(raisedAt(error, unmet[0].placeOf()));
}

const UNUSED =
  "the replay has answered no request of an application, so the test may pass without one. What the process of the tests " +
  "sends to its own machine is only answered by a route whose URL names its origin";

/**
 * Warn of each HAR that a test has replayed without an answer. Routes that it has removed do not count, and neither do those
 * that several tests share.
 *
 * @param {import("./session.js").Session} session
 */
function warnOfUnusedReplays({ info, http, warnings, passed }) {
  if (info.shared || passed === false) return;
  // What is recorded beside a replay is of the same call.
  const met = new Set(http.live.filter(({ calls }) => calls).map(placed));
  for (const entry of http.live) {
    if (entry.answers?.har && !entry.calls && !met.has(placed(entry))) warnings.push(`${entry.name}: ${UNUSED}`);
  }
}

/** @param {import("./http-routes.js").RouteEntry} entry */
function placed({ placeOf }) {
  const place = placeOf();
  return place && written(place);
}

module.exports = { checkRequired, warnOfUnusedReplays };
