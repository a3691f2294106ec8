"use strict";

/*
 * The preload: NODE_OPTIONS="--require trafficmock-agent/register" (or --import).
 * An error is one line on stderr; it does not end the application.
 */

/**
 * Package managers, and programs that start or restart a server. They also get our
 * NODE_OPTIONS, but are not the application. They are recognized by their file's name or by the
 * directory of their package, because an application may be in a directory named "npm".
 */
const TOOLS = [
  /[\\/]\.bin[\\/](nodemon|tsx|turbo|conc(urrently)?|pm2(-runtime|-dev|-docker)?)$/,
  /[\\/]node_modules[\\/](nodemon[\\/]bin|tsx[\\/]dist|turbo[\\/]bin|concurrently[\\/]dist|pm2[\\/]bin)[\\/]/,
  /[\\/]node_modules[\\/]pm2[\\/]lib[\\/]Daemon\.js$/,
  /[\\/](npm|npx|pnpm|pnpx|yarn|yarnpkg|corepack)(-cli|-[\d.]+)?(\.[cm]?js)?$/,
  /[\\/](node_modules|nodejs)[\\/](npm|pnpm|yarn|corepack)[\\/]/,
];

/** @param {string} file */
const isTool = (file) => TOOLS.some((tool) => tool.test(file));

const TURBOREPO = /[\\/](\.bin[\\/]turbo|node_modules[\\/]turbo[\\/]bin[\\/]turbo)$/;

/**
 * Say that Turborepo starts its tasks without our variables, as it does in its mode `strict`.
 * @param {string[]} argv
 * @param {NodeJS.ProcessEnv} env
 */
function warnOfTurborepo([, file = "", ...words], env) {
  if (!TURBOREPO.test(file)) return;
  const mode = /(?:^| )--env-mode[= ](\w+)/.exec(words.join(" "))?.[1] ?? env.TURBO_ENV_MODE;
  if (mode === "loose") return;
  process.stderr.write(
    "trafficmock: turbo starts its tasks without the variables that attach them. Use --env-mode=loose, or set TURBO_ENV_MODE=loose.\n",
  );
}

/** @returns {boolean} whether this is Node's own thread for module hooks, such as tsx's: only it has no parent */
function isHooksThread() {
  const { isMainThread, parentPort } = require("node:worker_threads");
  return !isMainThread && !parentPort;
}

/** @param {Error} error */
const complain = (error) => {
  process.stderr.write(`trafficmock: ${error.message.replace(/^trafficmock: /, "").replaceAll("\n", " ")}\n`);
};

try {
  const { env, argv } = process;
  const isWanted = env.TRAFFICMOCK_PROXY_URL || env.PLAYWRIGHT_BACKEND_MOCKS_PROXY_URL;
  // The agent is loaded only with a URL; without one this file costs nothing.
  if (isWanted) warnOfTurborepo(argv, env);
  if (isWanted && !isTool(argv[1] ?? "") && !isHooksThread()) {
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
