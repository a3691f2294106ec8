'use strict'

const { onSocket } = require('./on-socket.js')
const { Exchange } = require('../exchange.js')
const { Copy } = require('../report.js')
const { Chain, chains, isRedirect } = require('../redirects.js')
const { located } = require('../location.js')
const headers = require('../headers.js')
const upstream = require('./upstream.js')
const text = require('./text.js')
const { MockSocket } = require('./mock-socket.js')

/** How much of a request's body is awaited before the proxy is asked; bytes, ms. */
const BODY_BYTES = 64 * 1024 * 1024
const BODY_MS = 5000

/**
 * A `ClientRequest` that has no socket yet. Until the decision it writes into
 * its own buffer, as it does while an agent makes it wait for a connection.
 */
class HeldRequest {
  /**
   * @param {import('../agent.js').Agent} agent
   * @param {import('node:http').ClientRequest} req
   * @param {URL} url
   * @param {any} options of the request, for requests like it
   * @param {() => void} release goes on with the application's own agent
   * @param {Chain | undefined} chain of the redirect that led here
   */
  constructor (agent, req, url, options, release, chain) {
    this.agent = agent
    this.req = req
    this.url = url
    this.options = options
    this.release = release
    this.chain = chain
    this.copy = new Copy(BODY_BYTES)
    /** @type {Exchange | undefined} */
    this.exchange = undefined
    /** @type {import('../report.js').Report | undefined} */
    this.report = undefined
    this.isHeld = true
    /** @type {NodeJS.Timeout | undefined} */
    this.timer = undefined
    // Until the body is there the application is at work, and keeps itself alive.
    this.patience = setTimeout(() => this.announce(true), BODY_MS).unref()
    this.attach()
    if (req.getHeader('expect')) process.nextTick(() => this.announce(true))
  }

  /** Put our own methods before those of the prototype, on this one request. */
  attach () {
    const { req } = this
    const { write, end, destroy, setTimeout: setTimeoutOf } = req
    const own = /** @type {any} */ (req)
    own.write = (/** @type {any[]} */ ...args) => {
      this.keep(args[0], args[1])
      return write.apply(req, /** @type {any} */ (args))
    }
    own.end = (/** @type {any[]} */ ...args) => {
      this.keep(args[0], args[1])
      const result = end.apply(req, /** @type {any} */ (args))
      this.announce(false)
      return result
    }
    own.destroy = (/** @type {any[]} */ ...args) => {
      const result = destroy.apply(req, /** @type {any} */ (args))
      this.cancel()
      return result
    }
    own.setTimeout = (/** @type {number} */ ms, /** @type {any} */ listener) => {
      this.armTimeout(Number(ms))
      return setTimeoutOf.call(req, ms, listener)
    }
    this.armTimeout(Number(own.timeout ?? 0))
  }

  /** @param {number} ms as the socket would count it, were there one */
  armTimeout (ms) {
    clearTimeout(this.timer)
    if (ms > 0) this.timer = setTimeout(() => this.req.emit('timeout'), ms)
  }

  /**
   * @param {any} data
   * @param {any} encoding
   */
  keep (data, encoding) {
    if (this.exchange || data == null || typeof data === 'function') return
    this.copy.push(typeof data === 'string' ? Buffer.from(data, typeof encoding === 'string' ? /** @type {BufferEncoding} */ (encoding) : 'utf8') : data)
    if (this.copy.isCut) this.announce(true)
  }

  /**
   * Ask the proxy. The one place to change when bodies may follow the request
   * (feature `stream`): then this is called with the first byte.
   * @param {boolean} truncated whether more of the body is to come
   */
  announce (truncated) {
    if (this.exchange || !this.isHeld) return
    clearTimeout(this.patience)
    const { req, url } = this
    const pairs = text.headerLines(/** @type {any} */ (req)._header ?? '')
    const body = truncated ? null : this.copy.bytes()
    this.exchange = new Exchange(this.agent, { url: url.href, method: req.method, pairs, body, truncated }, this)
    const from = this.chain?.take(url.href)
    if (from) this.exchange.follow(from)
    else this.exchange.start()
  }

  /** @returns {boolean} whether it was still held: it is not any more */
  letGo () {
    if (!this.isHeld) return false
    this.isHeld = false
    clearTimeout(this.patience)
    clearTimeout(this.timer)
    const own = /** @type {any} */ (this.req)
    for (const name of ['write', 'end', 'destroy', 'setTimeout']) delete own[name]
    return true
  }

  cancel () {
    if (!this.letGo()) return
    this.exchange?.cancel()
    // Only with a socket does a request emit its error and its close.
    onSocket.call(this.req, new MockSocket(false))
  }

  passthrough () {
    if (!this.letGo()) return
    this.report = this.exchange?.report(this.url.href)
    this.watch()
    this.release()
  }

  /** See what happens to the application's own request, without a listener of its own:
   * Node discards a response that nobody listens for. */
  watch () {
    const { req, report, exchange } = this
    if (!report || !exchange) return
    const { emit } = req
    const own = /** @type {any} */ (req)
    own.emit = function (/** @type {string} */ event, /** @type {any[]} */ ...args) {
      if (event === 'error') report.fail(args[0])
      else if (event === 'close') report.cut()
      if (event !== 'response') return emit.call(req, event, ...args)
      upstream.observe(args[0], report)
      return inChain(exchange, report, () => emit.call(req, event, ...args))
    }
  }

  /** @param {import('../exchange.js').Outgoing} changed */
  resume (changed) {
    if (!this.letGo()) return
    const { req, exchange } = this
    const report = this.report = exchange?.report(changed.url)
    const socket = this.plug()
    const up = this.open(changed, socket)
    if (!up) return
    socket.on('close', () => {
      up.destroy()
      report?.cut()
    })
    up.on('error', (error) => {
      report?.fail(error)
      socket.destroy(error)
    })
    up.on('information', ({ statusCode, statusMessage, rawHeaders }) => {
      socket.push(text.head(statusCode, statusMessage, headers.fromRaw(rawHeaders)))
    })
    up.on('response', (response) => {
      if (report) upstream.observe(response, report)
      upstream.relay(response, socket, req.method, located(headers.fromRaw(response.rawHeaders), changed.url))
    })
    if (report && exchange) this.emitInChain(exchange, report)
  }

  /**
   * @param {import('../exchange.js').Outgoing} changed
   * @param {MockSocket} socket
   */
  open (changed, socket) {
    try {
      return upstream.open(this, changed)
    } catch (error) {
      // What Node refuses to send: a method or header that is none, another scheme.
      this.report?.fail(error)
      socket.destroy(/** @type {Error} */ (error))
      return undefined
    }
  }

  /**
   * @param {Exchange} exchange
   * @param {import('../report.js').Report} report
   */
  emitInChain (exchange, report) {
    const { req } = this
    const { emit } = req
    const own = /** @type {any} */ (req)
    own.emit = function (/** @type {string} */ event, /** @type {any[]} */ ...args) {
      if (event !== 'response') return emit.call(req, event, ...args)
      return inChain(exchange, report, () => emit.call(req, event, ...args))
    }
  }

  /** @param {import('../mock.js').Mock} mock */
  fulfill ({ status, statusText, pairs, body }) {
    if (!this.letGo()) return
    const socket = this.plug()
    socket.push(text.head(status, statusText, pairs))
    if (body.length) socket.push(body)
    // A 205 without a length would otherwise be read until the connection ends.
    else if (headers.get(pairs, 'content-length') === undefined) socket.push(null)
  }

  /** @returns {MockSocket} that the request now writes to and reads from */
  plug () {
    const socket = new MockSocket(this.url.protocol === 'https:')
    onSocket.call(this.req, socket)
    return socket
  }

  /** @param {Error} error */
  fail (error) {
    if (!this.letGo()) return
    this.req.destroy(error)
    onSocket.call(this.req, new MockSocket(false))
  }

  /** @param {import('../exchange.js').Outgoing} wanted */
  perform (wanted) {
    return upstream.perform(this, wanted)
  }
}

/**
 * Hand the response on so that a request made because of it is known as its next hop.
 * @param {Exchange} exchange
 * @param {import('../report.js').Report} report
 * @param {() => boolean} act
 */
function inChain (exchange, report, act) {
  if (!isRedirect(report.status, report.pairs)) return act()
  const chain = new Chain()
  chain.redirected(exchange.id, report)
  return chains.run(chain, act)
}

module.exports = { HeldRequest }
