"use strict";

/** Ask a third party on behalf of whoever asks this application. */
const ask = async (kind, who) => (await fetch(`http://nowhere.test/${kind}?who=${who}`)).text();

const listening = (server) => console.log(`Listening on http://127.0.0.1:${server.address().port}`);

module.exports = { ask, listening };
