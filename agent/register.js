"use strict";

/*
 * The preload: NODE_OPTIONS="--require trafficmock-agent/register" (or --import).
 * An error is one line on stderr; it does not end the application.
 */

/**
 * Package managers, and programs that restart a server when a file changes. They also get our
 * NODE_OPTIONS, but are not the application. They are recognized by their file's name or by the
 * directory of their package, because an application may be in a directory named "npm".
 */
const TOOLS = [
  /[\\/]\.bin[\\/](nodemon|tsx)$/,
  /[\\/]node_modules[\\/](nodemon[\\/]bin|tsx[\\/]dist)[\\/]/,
  /[\\/](npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack)(-cli|-[\d.]+)?(\.[cm]?js)?$/,
  /[\\/](node_modules|nodejs)[\\/](npm|pnpm|yarn|corepack)[\\/]/,
];

/** @param {string} file */
const isTool = (file) => TOOLS.some((tool) => tool.test(file));

/** @param {Error} error */
const complain = (error) => {
  process.stderr.write(`trafficmock: ${error.message.replace(/^trafficmock: /, "").replaceAll("\n", " ")}\n`);
};

try {
  const { env, argv } = process;
  const isWanted = env.TRAFFICMOCK_PROXY_URL || env.PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL;
  // The agent is loaded only with a URL; without one this file costs nothing.
  if (isWanted && !isTool(argv[1] ?? "")) {
    const { readSettings } = require("./src/settings.js");
    const { attachNow, refuseAll } = require("./src/attach.js");
    try {
      attachNow(readSettings({}, env), complain, __filename);
    } catch (error) {
      // A mistake in a variable must not send a test's requests to the real network.
      refuseAll(/** @type {Error} */ (error));
      throw error;
    }
  }
} catch (error) {
  complain(/** @type {Error} */ (error));
}
