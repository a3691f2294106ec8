'use strict'

const { Bridge } = require('./bridge.js')
const { undiciOpening, httpOpening } = require('./openings.js')
const { Chain, chains } = require('../redirects.js')

/**
 * Which WebSockets are intercepted: those of `globalThis.WebSocket`, or with
 * the setting `all` every one, npm `ws` included.
 */
class WebSocketHook {
  /** @param {import('../agent.js').Agent} agent */
  constructor (agent) {
    this.agent = agent
    this.wantsAll = agent.settings.webSocket === 'all'
  }

  /**
   * Mark what `globalThis.WebSocket` makes: undici's class underneath is the
   * same for others.
   * @returns {() => void} undoes it
   */
  install () {
    const { agent } = this
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket')
    const Original = globalThis.WebSocket
    if (!descriptor?.configurable || typeof Original !== 'function') return () => {}
    /** @type {typeof WebSocket} */
    const Marked = new Proxy(Original, {
      /** @returns {any} */
      construct (target, args, newTarget) {
        if (!agent.isAttached) return Reflect.construct(target, args, newTarget)
        const chain = new Chain()
        chain.isGlobalSocket = true
        const socket = chains.run(chain, () => Reflect.construct(target, args, newTarget === Marked ? target : newTarget))
        chain.socket = socket
        return socket
      }
    })
    Object.defineProperty(globalThis, 'WebSocket', { value: Marked, writable: true, enumerable: descriptor.enumerable, configurable: true })
    return () => { if (globalThis.WebSocket === Marked) Object.defineProperty(globalThis, 'WebSocket', descriptor) }
  }

  /**
   * @param {any} held a dispatch of undici with an upgrade
   * @returns {boolean} whether it is held now
   */
  takeDispatch (held) {
    if (held.opts.upgrade !== 'websocket' || !(this.wantsAll || held.chain?.isGlobalSocket)) return false
    const bridge = new Bridge(this.agent, undiciOpening(held, () => bridge.cancel()))
    bridge.start()
    return true
  }

  /**
   * @param {{ req: any, url: URL, options: any, release: () => void }} held a request of `node:http` with an upgrade
   * @returns {boolean} whether it is held now
   */
  takeRequest ({ req, url, options, release }) {
    if (!this.wantsAll || !/^websocket$/i.test(String(req.getHeader('upgrade') ?? 'websocket'))) return false
    const bridge = new Bridge(this.agent, httpOpening(req, url, options, release, () => bridge.cancel()))
    bridge.start()
    return true
  }
}

module.exports = { WebSocketHook }
