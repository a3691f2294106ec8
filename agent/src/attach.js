'use strict'

const { Agent } = require('./agent.js')
const http = require('./http/hook.js')
const { UndiciHook } = require('./undici/hook.js')
const { WebSocketHook } = require('./websocket/hook.js')
const { onModule } = require('./modules.js')
const { PARENT } = require('./settings.js')
const { TrafficMockError } = require('./errors.js')

const UNDICI = /[\\/]undici[^\\/]*[\\/]index\.js$/

/** The one agent of this thread. @type {Agent | undefined} */
let attached

/**
 * Attach, once the proxy has answered.
 * @param {import('./settings.js').Settings} settings
 */
async function attach (settings) {
  if (attached) throw new TrafficMockError('already_started', 'trafficmock is already attached to this process; call stop() first.')
  const agent = attached = new Agent(settings)
  // Somebody waits for the answer, so the process must live until it comes.
  agent.hold()
  try {
    await agent.start()
  } catch (error) {
    agent.stop()
    attached = undefined
    throw error
  } finally {
    agent.release()
  }
  return handle(agent, install(agent))
}

/**
 * Attach at once, as a preload does: requests wait for the handshake.
 * @param {import('./settings.js').Settings} settings
 * @param {(error: Error) => void} complain
 */
function attachNow (settings, complain) {
  if (attached) return
  const agent = attached = new Agent(settings)
  process.env[PARENT] ??= String(process.pid)
  agent.start().catch(complain)
  return handle(agent, install(agent))
}

/** @param {Agent} agent */
function install (agent) {
  const undici = new UndiciHook(agent)
  undici.install()
  const sockets = new WebSocketHook(agent)
  undici.upgrade = (held) => sockets.takeDispatch(held)
  const undo = [
    http.install(agent, (held) => sockets.takeRequest(held)),
    sockets.install(),
    onModule('undici', UNDICI, (exports) => undici.hookModule(exports)),
    () => undici.uninstall()
  ]
  return () => { for (const act of undo) act() }
}

/**
 * @param {Agent} agent
 * @param {() => void} uninstall
 */
function handle (agent, uninstall) {
  return {
    clientId: agent.clientId,
    stop: async () => {
      uninstall()
      agent.stop()
      if (attached === agent) attached = undefined
    }
  }
}

module.exports = { attach, attachNow }
