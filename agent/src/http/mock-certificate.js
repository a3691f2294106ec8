"use strict";

const { generateKeyPairSync, randomBytes, sign } = require("node:crypto");
const { isIP, isIPv4 } = require("node:net");

/**
 * Certificates of servers that are mocked, for applications that look at them: when they end, whom they are for.
 * Only what asks pays for one: for each host it is made once, in DER (X.690), by RFC 5280.
 */

const DAY_MS = 24 * 60 * 60 * 1000;
const VALID_DAYS = 90;

const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");
const COMMON_NAME = Buffer.from("0603550403", "hex");
const SUBJECT_ALTERNATIVE_NAME = Buffer.from("0603551d11", "hex");
/** The tags of alternative names, and of the values around them. */
const TAG = { integer: 0x02, bits: 0x03, octets: 0x04, utf8: 0x0c, time: 0x18, sequence: 0x30, set: 0x31 };
const CONTEXT = { dnsName: 0x82, address: 0x87, version: 0xa0, extensions: 0xa3 };

/**
 * @param {number} tag
 * @param {Buffer[]} parts
 * @returns {Buffer}
 */
function der(tag, ...parts) {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

/** @param {number} at ms */
const time = (at) => der(TAG.time, Buffer.from(new Date(at).toISOString().replace(/[-:T]|\.\d+/g, "")));

/** @param {string} address @returns {Buffer} its bytes */
function bytesOf(address) {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  // The URL parser writes IPv6 in its shortest form, which has at most one gap.
  const groups = new URL(`http://[${address.replace(/%.*/, "")}]`).hostname.slice(1, -1);
  const [before, after] = groups.split("::").map((half) => half.split(":").filter(Boolean));
  const gap = after ? Array(8 - before.length - after.length).fill("0") : [];
  return Buffer.from(
    [...before, ...gap, ...(after ?? [])].flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]),
  );
}

/** @type {import('node:crypto').KeyPairKeyObjectResult | undefined} */
let keys;
/** @type {Map<string, Buffer>} */
const made = new Map();
const MOST_MADE = 100;

/**
 * @param {string} host a name or an address
 * @returns {Buffer} a certificate that it signs itself
 */
function certificateFor(host) {
  let certificate = made.get(host);
  if (!certificate) {
    if (made.size >= MOST_MADE) made.clear();
    made.set(host, (certificate = make(host)));
  }
  return certificate;
}

/** @param {string} host */
function make(host) {
  keys ??= generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { privateKey, publicKey } = keys;
  const algorithm = der(TAG.sequence, ECDSA_WITH_SHA256);
  const name = der(TAG.sequence, der(TAG.set, der(TAG.sequence, COMMON_NAME, der(TAG.utf8, Buffer.from(host)))));
  const alternative = isIP(host) ? der(CONTEXT.address, bytesOf(host)) : der(CONTEXT.dnsName, Buffer.from(host));
  const names = der(TAG.octets, der(TAG.sequence, alternative));
  const now = Date.now();
  const body = der(
    TAG.sequence,
    der(CONTEXT.version, der(TAG.integer, Buffer.from([2]))),
    // Positive: its first bit is not set.
    der(TAG.integer, Buffer.from([1]), randomBytes(8)),
    algorithm,
    name,
    der(TAG.sequence, time(now - DAY_MS), time(now + VALID_DAYS * DAY_MS)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(CONTEXT.extensions, der(TAG.sequence, der(TAG.sequence, SUBJECT_ALTERNATIVE_NAME, names))),
  );
  const signature = sign("sha256", body, privateKey);
  return der(TAG.sequence, body, algorithm, der(TAG.bits, Buffer.from([0]), signature));
}

module.exports = { certificateFor };
