"use strict";

const { ask, listening } = require("./ask.cjs");

const application = require("fastify")();
const whoOf = (request) => request.query.who;

application.addHook(
  "onRequest",
  (request, reply, done) => void ask("on-request", whoOf(request)).then(() => done(), done),
);
for (const hook of ["preParsing", "preValidation", "preHandler"]) {
  application.addHook(hook, async (request) => void (await ask(hook, whoOf(request))));
}
application.addHook("onSend", async (request, reply, payload) => `${payload}, ${await ask("on-send", whoOf(request))}`);
application.addHook("onResponse", async (request) => void (await ask("on-response", whoOf(request))));
application.post("/:who", (request, reply) => {
  ask("handler", request.body.who).then((text) => reply.type("text/plain").send(text));
});
application.listen({ port: 0, host: "127.0.0.1" }).then(() => listening(application.server));
