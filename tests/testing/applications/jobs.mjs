/**
 * Run as a child: an application whose first request starts what runs the jobs of all requests.
 *
 * The argument says what that is: `loop` or `timer`. The address is printed as one JSON line.
 */
import http from "node:http";

const jobs = [];
const moment = () => new Promise((resolve) => setTimeout(resolve, 5));

async function loop() {
  for (;;) {
    await jobs.shift()?.();
    await moment();
  }
}

async function timer() {
  await jobs.shift()?.();
  setTimeout(timer, 5);
}

let starts = [{ loop, timer }[process.argv[2]]];

const server = http.createServer((request, response) => {
  for (const start of starts) start();
  starts = [];
  jobs.push(async () => {
    const answer = await fetch("http://mail.test/send").catch((error) => new Response(String(error.cause)));
    response.end(await answer.text());
  });
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }));
});
process.stdin.resume().on("end", () => process.exit());
