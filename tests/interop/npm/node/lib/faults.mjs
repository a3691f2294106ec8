import { readdirSync, readFileSync } from "node:fs";

/** This test worker ends as a crash would end it. */
export function dieAsWorker() {
  process.kill(process.pid, "SIGKILL");
}

/** End a child at once, within a function that cannot wait: its sockets are closed on return. */
export function killNow(child) {
  child.kill("SIGKILL");
  while (!hasEnded(child.pid)) {
    // Its parent, this process, reaps it later.
  }
}

/** A zombie whose last other thread is gone has no sockets left. */
function hasEnded(pid) {
  return stateOf(pid) === "Z" && readdirSync(`/proc/${pid}/task`).length === 1;
}

function stateOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2)[0];
}
