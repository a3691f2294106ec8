module.exports = {
  // Nothing here needs a compiler, and Jest's default one is most of the time it takes.
  transform: {},
  testTimeout: 20000,
};
