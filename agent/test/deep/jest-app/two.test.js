/* A second file, in a context of its own within the same process. */
const { clients } = require("./clients.js");

for (const [name, send] of Object.entries(clients)) {
  test(name, async () => {
    expect(await send(`http://nowhere.test/${process.env.NAME}/two/${encodeURIComponent(name)}`)).toBe("mocked");
  });
}
