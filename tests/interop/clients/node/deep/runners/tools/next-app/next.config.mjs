/** What stands outside of this folder is no part of the application, lock files included. */
export default {
  turbopack: { root: import.meta.dirname + "/../../.." },
  devIndicators: false,
  // Next asks the npm registry about its own version otherwise, which is not one of the calls.
  experimental: { agentUpgrade: false },
};
