"use strict";

/* Servers that say as much as the clients of `more-ways.cjs` need. */
const net = require("node:net");

const listen = (server) =>
  new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: server.address().port }));
  });

/** @param {string} type @param {Buffer} body */
function message(type, body) {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const READY = message("Z", Buffer.from("I"));
const AUTHENTICATED = Buffer.concat([message("R", Buffer.alloc(4)), READY]);
const DONE = Buffer.concat([message("C", Buffer.from("SELECT 0\0")), READY]);
const NOTIFY = /^NOTIFY (\w+), '(.*)'$/;

/** What a connection gets that listens, and notifies itself. */
const notification = (channel, text) =>
  message("A", Buffer.concat([Buffer.alloc(4), Buffer.from(`${channel}\0${text}\0`)]));

/** A PostgreSQL that lets everybody in and whose queries find nothing (simple protocol). */
function startPostgres() {
  const server = net.createServer((socket) => {
    let isIn = false;
    let data = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      data = Buffer.concat([data, chunk]);
      for (;;) {
        // The first message has no type.
        const at = isIn ? 1 : 0;
        if (data.length < at + 4 || data.length < at + data.readInt32BE(at)) return;
        const type = isIn ? String.fromCharCode(data[0]) : "";
        const [, channel, text] = NOTIFY.exec(String(data.subarray(5, at + data.readInt32BE(at) - 1))) ?? [];
        if (channel) socket.write(notification(channel, text));
        data = data.subarray(at + data.readInt32BE(at));
        if (!isIn) socket.write(AUTHENTICATED);
        else if (type === "Q") socket.write(DONE);
        isIn = true;
      }
    });
  });
  return listen(server);
}

/** A Redis that answers each command with OK, and sends what is published to all that subscribe; commands come whole. */
function startRedis() {
  const subscribers = new Set();
  const server = net.createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("close", () => subscribers.delete(socket));
    socket.on("data", (data) => {
      for (const [, command] of String(data).matchAll(/^\*\d+\r\n((?:\$\d+\r\n[^\r]*\r\n)+)/gm)) {
        const [name, channel, text] = command.split("\r\n").filter((_, at) => at % 2);
        if (name.toUpperCase() === "PUBLISH") {
          for (const each of subscribers) each.write(array("message", channel, text));
        }
        if (name.toUpperCase() === "SUBSCRIBE") {
          subscribers.add(socket);
          socket.write(`*3\r\n${bulk("subscribe")}${bulk(channel)}:1\r\n`);
        } else socket.write("+OK\r\n");
      }
    });
  });
  return listen(server);
}

const bulk = (text) => `$${text.length}\r\n${text}\r\n`;
const array = (...texts) => `*${texts.length}\r\n${texts.map(bulk).join("")}`;

module.exports = { startPostgres, startRedis };
