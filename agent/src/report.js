'use strict'

const headers = require('./headers.js')
const { decodeThen, decode } = require('./coding.js')
const { serializeError } = require('./errors.js')
const { responseToWire } = require('./wire.js')

/** How much of a response is copied for the history; bytes as they came. */
const COPY_BYTES = 8 * 1024 * 1024

/**
 * An upstream's answer with its decoded body.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} statusText
 * @property {headers.Pairs} pairs
 * @property {Buffer} body
 * @property {string} url
 */

/** Bytes that pass by, kept up to a limit. */
class Copy {
  /** @param {number} limit in bytes */
  constructor (limit) {
    this.limit = limit
    /** @type {Buffer[]} */
    this.chunks = []
    this.kept = 0
    this.size = 0
  }

  /** @param {Uint8Array} chunk */
  push (chunk) {
    this.size += chunk.length
    const room = this.limit - this.kept
    if (room <= 0) return
    // Copied because clients reuse or hand on the memory they read into.
    const piece = Buffer.from(chunk.length > room ? chunk.subarray(0, room) : chunk)
    this.kept += piece.length
    this.chunks.push(piece)
  }

  get isCut () {
    return this.size > this.kept
  }

  bytes () {
    return this.chunks.length === 1 ? this.chunks[0] : Buffer.concat(this.chunks)
  }
}

/**
 * Tells the proxy what the upstream answered, while the application gets it
 * from its own client. Said once: at the end, at the failure, or when the next
 * hop of a redirect begins.
 */
class Report {
  /**
   * @param {import('./agent.js').Agent} agent
   * @param {string} id of the request
   * @param {string} url that was asked
   */
  constructor (agent, id, url) {
    this.agent = agent
    this.id = id
    this.url = url
    this.copy = new Copy(COPY_BYTES)
    this.isSaid = false
    this.status = 0
    this.statusText = ''
    /** @type {headers.Pairs} */
    this.pairs = []
  }

  /**
   * @param {number} status
   * @param {string} statusText
   * @param {headers.Pairs} pairs
   */
  head (status, statusText, pairs) {
    this.status = status
    this.statusText = statusText
    this.pairs = pairs
  }

  /** @param {Uint8Array} chunk as it came, not decoded */
  data (chunk) {
    this.copy.push(chunk)
  }

  /** The body is whole. */
  end () {
    if (!this.say()) return
    const coding = headers.get(this.pairs, 'content-encoding')
    const raw = this.copy.bytes()
    if (!coding || raw.length === 0) return this.send(raw, false)
    decodeThen(raw, coding, (decoded) => this.send(decoded ?? raw, decoded !== undefined))
  }

  /** Nobody reads further: what is there must do, and at once, before the next hop's news. */
  cut () {
    if (this.status === 0 || !this.say()) return
    const raw = this.copy.bytes()
    const decoded = raw.length ? decode(raw, headers.get(this.pairs, 'content-encoding')) : raw
    this.send(decoded ?? raw, decoded !== undefined, true)
  }

  /** @param {unknown} error why there is no response */
  fail (error) {
    if (!this.say()) return
    this.agent.send({ type: 'request:response', requestId: this.id, ok: false, error: serializeError(error) })
  }

  /** @returns {boolean} whether it is not said yet */
  say () {
    const isFirst = !this.isSaid
    this.isSaid = true
    return isFirst
  }

  /**
   * @param {Buffer} body
   * @param {boolean} isDecoded
   * @param {boolean} [isCut]
   */
  send (body, isDecoded, isCut = this.copy.isCut) {
    const { status, statusText, url } = this
    const pairs = isDecoded ? decodedPairs(this.pairs, isCut ? undefined : body) : headers.without(this.pairs, 'transfer-encoding')
    const response = responseToWire(this.agent, { status, statusText, pairs, body, url }, isCut ? this.copy.size : undefined)
    this.agent.send({ type: 'request:response', requestId: this.id, ok: true, response })
  }
}

/**
 * Headers that fit a decoded body.
 * @param {headers.Pairs} pairs
 * @param {Buffer} [body] without it the length is left out
 * @returns {headers.Pairs}
 */
function decodedPairs (pairs, body) {
  const rest = headers.without(pairs, 'content-encoding', 'transfer-encoding')
  if (!body) return headers.without(rest, 'content-length')
  return headers.get(rest, 'content-length') ? headers.set(rest, 'content-length', String(body.length)) : rest
}

module.exports = { Report, Copy, decodedPairs }
