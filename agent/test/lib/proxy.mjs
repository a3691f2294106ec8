import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = resolve(fileURLToPath(import.meta.url), '../../../..')
const DEADLINE_MS = 20000

/**
 * Start a real proxy: ours, from this checkout.
 * @param {...string} options of the command line
 * @returns {Promise<{ url: string, get(path: string): Promise<any>, stop(): Promise<void>, process: import('node:child_process').ChildProcess }>}
 */
export async function startProxy (...options) {
  const file = join(mkdtempSync(join(tmpdir(), 'trafficmock-')), 'ready.json')
  const python = process.env.TRAFFICMOCK_TEST_PYTHON ?? 'python3'
  const port = options.includes('--port') ? [] : ['--port', '0']
  const child = spawn(python, ['-m', 'trafficmock', 'serve', ...port, '--ready-file', file, ...options], {
    env: { ...process.env, PYTHONPATH: ROOT, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { said += data })
  for (const end = Date.now() + DEADLINE_MS; !existsSync(file);) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`the proxy did not start:\n${said}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { url } = JSON.parse(readFileSync(file, 'utf8'))
  return { url, process: child, get: (path) => getJson(url + path), stop: () => stop(child), said: () => said }
}

/** @param {import('node:child_process').ChildProcess} child */
export function stop (child, signal = 'SIGTERM') {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill(signal)
  })
}

async function getJson (url) {
  return (await fetch(url)).json()
}

/** Ask the proxy again until the answer satisfies; bounded. */
export async function until (proxy, path, test, ms = 3000) {
  for (const end = Date.now() + ms; ;) {
    const answer = await proxy.get(path)
    const found = test(answer)
    if (found) return found
    if (Date.now() > end) throw new Error(`not seen at ${path}: ${JSON.stringify(answer).slice(0, 2000)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
