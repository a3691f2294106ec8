import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { REQUIRE } from './lib/child.mjs'
import { startProxy, stop } from './lib/proxy.mjs'
import { startWorker } from './lib/worker.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Servers as people write them: nothing in them knows of trafficmock. */
const APPS = {
  express: `
    const express = require('express'), axios = require('axios')
    const app = express()
    app.get('/fetch', async (req, res) => res.send(await (await fetch('http://nowhere.test/price')).text()))
    app.get('/axios', async (req, res) => res.send((await axios.get('http://nowhere.test/price')).data))
    const server = app.listen(0, '127.0.0.1', () => process.send(server.address().port))`,
  fastify: `
    const app = require('fastify')()
    app.get('/fetch', async () => (await fetch('http://nowhere.test/price')).text())
    app.get('/axios', async () => (await require('axios').get('http://nowhere.test/price')).data)
    app.listen({ port: 0, host: '127.0.0.1' }).then(() => process.send(app.server.address().port))`
}

describe('frameworks, by NODE_OPTIONS alone', () => {
  let proxy, worker
  before(async () => {
    proxy = await startProxy()
    worker = await startWorker(proxy.url)
    await worker.route('/price', (r) => r.text('42 euros'))
  })
  after(async () => {
    worker.close()
    await proxy.stop()
  })

  for (const [name, code] of Object.entries(APPS)) {
    test(name, async () => {
      const child = spawn(process.execPath, ['-e', code], {
        cwd: ROOT,
        env: { ...process.env, NODE_OPTIONS: REQUIRE, TRAFFICMOCK_PROXY_URL: proxy.url, TRAFFICMOCK_CLIENT_ID: name },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc']
      })
      const port = await new Promise((resolve, reject) => child.once('message', resolve).once('exit', () => reject(new Error('the server ended'))))
      for (const path of ['fetch', 'axios']) {
        assert.equal(await (await fetch(`http://127.0.0.1:${port}/${path}`)).text(), '42 euros')
      }
      const { entries } = await proxy.get('/api/history')
      assert.ok(entries.some(({ clientId }) => clientId === name))
      await stop(child)
    })
  }
})
