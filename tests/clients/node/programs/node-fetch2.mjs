import fetch from 'node-fetch2'
import { fetchCalls } from '../lib/fetch-calls.mjs'
import { HTTPS, run } from '../lib/harness.mjs'
import { nodeFetchCalls } from '../lib/node-fetch-calls.mjs'

await run({
  ...fetchCalls(fetch),
  ...nodeFetchCalls(fetch),
  'timeout of its own': async () => (await fetch(`${HTTPS}/stall`, { timeout: 300 })).text()
})
