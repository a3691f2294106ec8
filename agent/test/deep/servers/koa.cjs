"use strict";

const { text } = require("node:stream/consumers");
const Koa = require("koa");
const { ask, listening } = require("./ask.cjs");

const application = new Koa();
application.use(async (context, next) => {
  await ask("before", context.query.who);
  await next();
  context.body += `, ${await ask("behind", context.query.who)}`;
});
application.use(async (context) => {
  const { who } = JSON.parse(await text(context.req));
  context.body = await ask("handler", who);
  context.res.on("finish", () => ask("finish", who));
});
const server = application.listen(0, "127.0.0.1", () => listening(server));
