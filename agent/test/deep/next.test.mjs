import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { REQUIRE } from '../lib/child.mjs'
import { startProxy, until } from '../lib/proxy.mjs'
import { startWorker } from '../lib/worker.mjs'

const APP = fileURLToPath(new URL('next-app', import.meta.url))
const READY = /Local:\s+(http:\S+)/

test('Next.js: a server component, a route handler and a server action, by NODE_OPTIONS alone', { timeout: 120000 }, async () => {
  const proxy = await startProxy()
  const worker = await startWorker(proxy.url)
  await worker.route('nowhere.test', (r) => r.text(`mock of ${new URL(r.request.url).pathname}`))
  const child = spawn(process.execPath, ['node_modules/next/dist/bin/next', 'dev', '-p', '0', '-H', '127.0.0.1'], {
    cwd: APP,
    // A group of its own: next starts its server as a child, and both must go.
    detached: true,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: proxy.url },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let said = ''
  const ready = new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        said += data
        const found = READY.exec(said)
        if (found) resolve(found[1])
      })
    }
    child.once('exit', () => reject(new Error(`next ended:\n${said}`)))
  })
  try {
    const url = await ready
    const page = await (await fetch(url)).text()
    assert.match(page, /mock of \/component/)
    assert.equal(await (await fetch(`${url}/api/data`)).text(), 'mock of /handler')
    const form = new FormData()
    form.append(/name="(\$ACTION_ID_[0-9a-f]+)"/.exec(page)[1], '')
    await (await fetch(url, { method: 'POST', body: form })).text()
    await until(proxy, '/api/history', ({ entries }) => entries.some(({ request, action }) => request.url.endsWith('/action') && action === 'fulfill'))
    const { entries } = await proxy.get('/api/history')
    assert.ok(entries.every(({ clientId }) => clientId.startsWith('next-shop')), entries.map(({ clientId }) => clientId).join())
  } finally {
    process.kill(-child.pid, 'SIGTERM')
    worker.close()
    await proxy.stop()
  }
})
