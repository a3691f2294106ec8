'use strict'

const childProcess = require('node:child_process')
const { syncBuiltinESMExports } = require('node:module')

/*
 * An application may be told of the proxy twice: by the agent, and by the proxy
 * variables that clients such as axios read. A request that the agent has
 * announced would then be announced again by the forward proxy that carries it.
 * So an attached process forgets those variables, and its children, which may
 * be of any language, are told of them.
 */

const NAMES = /^(https?|wss?|all)_proxy$/i
/** Who inherits this environment has one of these. */
const INHERITED = ['TRAFFICMOCK_PROXY_URL', 'PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL', 'NO_PROXY', 'no_proxy']
const SYNC = /** @type {const} */ (['spawnSync', 'execFileSync', 'execSync'])

/** @typedef {Record<string, string | undefined>} Env */

/**
 * @param {(url: URL) => boolean} isOwn tells whether a URL is the proxy's
 * @returns {() => void} gives the variables back
 */
function leaveOwnProxy (isOwn) {
  const named = (/** @type {[string, string | undefined]} */ [name, value]) => NAMES.test(name) && value && URL.canParse(value) && isOwn(new URL(value))
  const taken = Object.fromEntries(Object.entries(process.env).filter(named))
  if (Object.keys(taken).length === 0) return () => {}
  for (const name of Object.keys(taken)) delete process.env[name]
  const undo = tellChildren(taken)
  return () => {
    undo()
    for (const [name, value] of Object.entries(taken)) process.env[name] ??= value
  }
}

/**
 * @param {Env} taken
 * @returns {() => void}
 */
function tellChildren (taken) {
  const own = /** @type {any} */ (childProcess)
  // All that starts a child without waiting for its end comes through here.
  const undo = [replace(own.ChildProcess.prototype, 'spawn', ([options]) => {
    if (Array.isArray(options?.envPairs)) addPairs(options.envPairs, taken)
    return [options]
  })]
  for (const name of SYNC) undo.push(replace(own, name, (words) => withEnv(words, taken)))
  syncBuiltinESMExports()
  return () => {
    for (const act of undo) act()
    syncBuiltinESMExports()
  }
}

/**
 * @param {any} owner
 * @param {string} name of a function, which gets other arguments from now on
 * @param {(words: any[]) => any[]} change
 */
function replace (owner, name, change) {
  const original = owner[name]
  /** @this {any} @param {any[]} words */
  function made (...words) { return original.apply(this, change(words)) }
  owner[name] = made
  return () => { if (owner[name] === made) owner[name] = original }
}

/**
 * @param {string[]} pairs `NAME=value`, added to
 * @param {Env} taken
 */
function addPairs (pairs, taken) {
  const names = new Set(pairs.map((pair) => pair.slice(0, pair.indexOf('='))))
  if (!INHERITED.some((name) => names.has(name))) return
  for (const [name, value] of Object.entries(taken)) if (!names.has(name)) pairs.push(`${name}=${value}`)
}

/**
 * @param {any[]} words the arguments of a call: a command, perhaps its own, perhaps options
 * @param {Env} taken
 */
function withEnv (words, taken) {
  const at = words.findIndex((word, i) => i > 0 && typeof word === 'object' && word !== null && !Array.isArray(word))
  const options = at === -1 ? {} : words[at]
  const env = options.env ?? process.env
  if (!INHERITED.some((name) => name in env)) return words
  const added = { ...options, env: { ...taken, ...env } }
  return at === -1 ? [...words, added] : words.with(at, added)
}

module.exports = { leaveOwnProxy }
