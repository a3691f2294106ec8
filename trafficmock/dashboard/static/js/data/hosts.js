// @ts-check
/** Which hosts are parts of the application itself: what goes there does not go out. */

/** Loopback, and names without a dot. */
const UNDER_TEST = /^(?:127(?:\.[0-9]+){3}|0\.0\.0\.0|\[::1?\]|(?:.*\.)?localhost|[^.[\]]+)$/;

/** @param {string} authority a host, with its port if the URL has one */
export const isWithin = (authority) => UNDER_TEST.test(authority.toLowerCase().replace(/:\d*$/, ""));

/**
 * @param {{ decisions: Record<string, number>, hosts: Record<string, Record<string, number>> }} counts
 * @returns {{ passed: number, to: [host: string, count: number][] }} what passed and left the application
 */
export function leftApplication({ decisions, hosts }) {
  /** @type {[string, number][]} */
  const to = Object.entries(hosts).map(([host, { passthrough = 0 }]) => [host, passthrough]);
  const stayed = to.reduce((all, [host, count]) => all + (isWithin(host) ? count : 0), 0);
  return {
    passed: (decisions.passthrough ?? 0) - stayed,
    to: to.filter(([host, count]) => count && !isWithin(host)),
  };
}
