"use strict";

const express = require("express");
const { ask, listening } = require("./ask.cjs");

const application = express();
application.use(express.json());
application.use((req, res, next) => {
  ask("middleware", req.query.who).then(() => next(), next);
});
application.param("who", (req, res, next, who) => {
  ask("parameter", who).then(() => next(), next);
});
application.post("/:who", async (req, res) => {
  const { who } = req.body;
  res.on("finish", () => ask("finish", who));
  const handled = await ask("handler", who);
  throw new Error(handled);
});
// Express knows it by its four parameters.
application.use((error, req, res, _next) => {
  ask("error-handler", req.query.who).then((text) => res.send(`${error.message}, ${text}`));
});
const server = application.listen(0, "127.0.0.1", () => listening(server));
