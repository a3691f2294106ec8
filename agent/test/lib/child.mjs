import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const AGENT = resolve(fileURLToPath(import.meta.url), '../../..')

/** The preload, as NODE_OPTIONS wants it. */
export const REQUIRE = `--require "${AGENT}/register.js"`
export const IMPORT = `--import "file://${AGENT}/register.js"`

/**
 * Run a script in a Node of its own, under the preload.
 * @param {string} code CommonJS, or ESM with `module: true`
 * @param {{ env?: Record<string, string>, module?: boolean, preload?: string, ms?: number, cwd?: string }} options
 * @returns {Promise<{ stdout: string, stderr: string, status: number | null, ms: number }>}
 */
export function runNode (code, { env = {}, module = false, preload = REQUIRE, ms = 15000, cwd } = {}) {
  const started = Date.now()
  const child = spawn(process.execPath, [...(module ? ['--input-type=module'] : []), '-e', code], {
    cwd: cwd ?? AGENT,
    env: { ...process.env, NODE_OPTIONS: preload, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: ms
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (data) => { stdout += data })
  child.stderr.on('data', (data) => { stderr += data })
  return new Promise((resolve) => child.on('close', (status) => resolve({ stdout, stderr, status, ms: Date.now() - started })))
}
