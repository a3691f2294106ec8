import { REST } from "@discordjs/rest";
import { Client } from "@notionhq/client";
import { Telegram } from "telegraf";
import { run } from "../lib/harness.mjs";

const discord = new REST({ api: "https://vendor.test/discord", version: "10", retries: 1 }).setToken("t");
const notion = new Client({ auth: "secret", baseUrl: "https://vendor.test" });
const telegram = new Telegram("1:t", { apiRoot: "https://vendor.test" });
const major = Number(process.versions.node.split(".")[0]);
const file = (contents) => ({ name: "a.txt", data: Buffer.from(contents) });

await run({
  "discord: post": () => discord.post("/channels/1/messages", { body: { content: "hi" } }),
  "discord: slowed down": () => discord.post("/channels/1/messages", { body: { content: "flaky" } }),
  "discord: upload": () => discord.post("/channels/2/messages", { body: {}, files: [file("contents")] }),
  "telegraf: slowed down": () => telegram.sendMessage(1, "hi"),
  "telegraf: post": () => telegram.sendMessage(1, "hi"),
  // On Node 26 the stream that telegraf 4 makes of an upload never ends, with the agent or without.
  ...(major < 26 && {
    "telegraf: upload": () => telegram.sendDocument(1, { source: Buffer.from("contents"), filename: "a.txt" }),
  }),
  notion: async () => (await notion.pages.retrieve({ page_id: "1" })).id,
});
