import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { runNode } from './lib/child.mjs'
import { startProxy } from './lib/proxy.mjs'
import { startUpstream } from './lib/upstream.mjs'

describe('an application that is told of the proxy twice', () => {
  let proxy, upstream, env
  before(async () => {
    proxy = await startProxy()
    upstream = await startUpstream()
    const said = proxy.url.replace('//', '//shop:-@')
    env = { TRAFFICMOCK_PROXY_URL: proxy.url, NO_PROXY: 'db.test', HTTP_PROXY: said, http_proxy: said, https_proxy: 'http://other.test:3128' }
  })
  after(async () => {
    await upstream.stop()
    await proxy.stop()
  })

  const SHOW = 'process.stdout.write([process.env.HTTP_PROXY, process.env.http_proxy, process.env.https_proxy, process.env.NO_PROXY].join())'

  test('forgets the variables that name it, and no others', async () => {
    const { stdout, stderr } = await runNode(SHOW, { env })
    assert.equal(stderr, '')
    assert.equal(stdout, ',,http://other.test:3128,db.test')
  })

  test('tells its children of any language of them', async () => {
    const code = `
      const { execFileSync, execSync, spawnSync, exec, spawn } = require('node:child_process')
      const show = ['-c', 'echo "$HTTP_PROXY,$http_proxy"']
      const out = [execFileSync('sh', show), execFileSync('sh', show, { env: { ...process.env, X: '1' } }), execSync(show[1]), spawnSync('sh', show).stdout].map(String)
      exec(show[1], (_, text) => {
        out.push(text)
        spawn('sh', show, { env: { PATH: process.env.PATH } }).stdout.on('data', (data) => {
          out.push(String(data))
          console.log(JSON.stringify(out))
        })
      })`
    for (const module of [false, true]) {
      const script = module ? code.replace(/const \{(.*)\} = require\((.*)\)/, 'import {$1} from $2') : code
      const { stdout, stderr } = await runNode(script, { env, module })
      assert.equal(stderr, '')
      const told = `${env.HTTP_PROXY},${env.http_proxy}\n`
      // The last was started with an environment that is not this one.
      assert.deepEqual(JSON.parse(stdout), [told, told, told, told, told, ',\n'])
    }
  })

  test('keeps them when the agent stops, or is not attached', async () => {
    const { stdout } = await runNode(`require('./src/index.js').startTrafficMock().then(({ stop }) => stop()).then(() => { ${SHOW} })`, { env, preload: '' })
    assert.match(stdout, new RegExp(`^${env.HTTP_PROXY},`))
  })

  test('announces a request of a client that reads them once', async () => {
    const code = `require('axios').get(process.argv[1]).then((r) => console.log(r.status))`
    const { stdout } = await runNode(code.replace('process.argv[1]', JSON.stringify(`${upstream.url}/once`)), { env: { ...env, TRAFFICMOCK_CLIENT_ID: 'shop' } })
    assert.equal(stdout, '200\n')
    const { entries } = await proxy.get('/api/history')
    assert.deepEqual(entries.map(({ request, clientId }) => [clientId, new URL(request.url).pathname]), [['shop', '/once']])
  })
})
