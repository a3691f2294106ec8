/** The app's `globalThis.WebSocket`s and everything that happened to them, in order. */
export class AppSockets {
  #sockets = new Map();
  #count = 0;

  open({ url, protocols, binaryType, key }) {
    const id = key ?? String((this.#count += 1));
    const socket = new WebSocket(url, protocols);
    socket.binaryType = binaryType ?? "arraybuffer";
    const record = { socket, events: [], waiting: [] };
    this.#sockets.set(id, record);
    socket.addEventListener("open", () => note(record, { type: "open", protocol: socket.protocol }));
    socket.addEventListener("message", ({ data }) => note(record, message(data)));
    socket.addEventListener("error", () => note(record, { type: "error" }));
    socket.addEventListener("close", ({ code, reason, wasClean }) =>
      note(record, { type: "close", code, reason, wasClean }),
    );
    return { id };
  }

  send(id, { data, base64 }) {
    const { socket } = this.#sockets.get(id);
    socket.send(base64 === undefined ? data : Buffer.from(base64, "base64"));
    return {};
  }

  close(id, { code, reason }) {
    this.#sockets.get(id).socket.close(code, reason);
    return {};
  }

  /** State and events so far, once there are at least `count` events. */
  async events(id, { count = 0 }) {
    const record = this.#sockets.get(id);
    if (record.events.length < count) {
      await new Promise((resolve) => record.waiting.push({ count, resolve }));
    }
    return { readyState: record.socket.readyState, events: record.events };
  }
}

function message(data) {
  if (typeof data === "string") return { type: "message", data };
  return { type: "message", base64: Buffer.from(data).toString("base64") };
}

function note(record, event) {
  record.events.push(event);
  const due = record.waiting.filter(({ count }) => record.events.length >= count);
  record.waiting = record.waiting.filter((waiter) => !due.includes(waiter));
  for (const { resolve } of due) resolve();
}
