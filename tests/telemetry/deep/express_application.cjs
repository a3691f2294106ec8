// An Express application with one page, which asks another server.
const express = require("express");

const application = express();
application.get("/page", async (request, response) => {
  const answer = await fetch(process.env.UPSTREAM);
  response.send(await answer.text());
});
const server = application.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ port: server.address().port }));
});
process.stdin.resume().on("end", () => process.exit());
