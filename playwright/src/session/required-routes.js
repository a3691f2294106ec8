"use strict";

const { UnmetRouteError } = require("../errors.js");
const { raisedAt } = require("./call-site.js");
const { nothingCame, unmetLines } = require("../report/traffic-report.js");

/**
 * Add an error to a test for the required routes that no request has met. Routes that the test has removed do not count.
 *
 * @param {import("./session.js").Session} session
 */
async function checkRequired(session) {
  const { http, connection, registration, traffic } = session;
  const missed = () => http.live.filter(({ required, calls }) => required && !calls);
  // The end of the test reports that the connection is lost.
  if (!missed().length || connection.lost) return;
  // Messages that the proxy sent before, about its own answers, come before its answer.
  await connection.barrier();
  const unmet = missed();
  if (!unmet.length) return;
  const { similar, applications } = await registration.similarTo(unmet);
  const lines = unmetLines(session, { unmet, similar });
  if (!traffic.requests.size) lines.push(...nothingCame(applications));
  const error = new UnmetRouteError(lines.join("\n"));
  session.errors.add(raisedAt(error, unmet[0].placeOf()));
}

module.exports = { checkRequired };
