'use strict'

/*
 * The preload: NODE_OPTIONS="--require trafficmock-agent/register" (or --import).
 * Whatever goes wrong is one line on stderr; the application lives.
 */

const { readSettings } = require('./src/settings.js')

/** Package managers are started with our NODE_OPTIONS too, and are not the application. */
const TOOLS = /[\\/](npm|npx|pnpm|pnpx|yarn|corepack)(-cli)?(\.c?js)?$|[\\/](npm|pnpm|yarn|corepack)[\\/]/

/** @param {Error} error */
const complain = (error) => { process.stderr.write(`trafficmock: ${error.message.replaceAll('\n', ' ')}\n`) }

try {
  if (!TOOLS.test(process.argv[1] ?? '')) {
    const settings = readSettings({}, process.env)
    if (settings.proxyUrl) require('./src/attach.js').attachNow(settings, complain)
  }
} catch (error) {
  complain(/** @type {Error} */ (error))
}
