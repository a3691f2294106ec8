const { clients } = require("./clients.js");

for (const [name, send] of Object.entries(clients)) {
  test(name, async () => {
    expect(await send(`http://nowhere.test/${process.env.NAME}/one/${encodeURIComponent(name)}`)).toBe("mocked");
  });
}

test("redirects of fetch are hops of one request", async () => {
  expect(await (await fetch(process.env.REDIRECTING)).text()).toContain("/echo?hop");
});

test("fake timers hold nothing up", async () => {
  jest.useFakeTimers();
  try {
    expect(await clients.fetch(`http://nowhere.test/${process.env.NAME}/one/faked`)).toBe("mocked");
    expect(await clients["node:http"](`http://nowhere.test/${process.env.NAME}/one/faked-http`)).toBe("mocked");
  } finally {
    jest.useRealTimers();
  }
});
