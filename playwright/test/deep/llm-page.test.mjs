/* A route handler of Next.js streams the answer of a model on to its page, which is looked at between two tokens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium, expect } from "@playwright/test";
import { connect } from "../../core.mjs";
import { ChatCompletion, EVENT_STREAM } from "../../llm.mjs";
import { startApp } from "../../../agent/test/lib/app.mjs";
import { startProxy } from "../../../agent/test/lib/proxy.mjs";

const APP = fileURLToPath(new URL("llm-app", import.meta.url));
const NEXT = ["node_modules/next/dist/bin/next", "dev", "-p", "0", "-H", "127.0.0.1"];

test("the page has each token before the next is sent", { timeout: 180_000 }, async (t) => {
  const proxy = await startProxy();
  t.after(() => proxy.stop());
  const app = await startApp(proxy, APP, NEXT);
  t.after(() => app.stop());
  const browser = await chromium.launch({ executablePath: process.env.E2E_CHROMIUM, args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const mocks = await connect({ title: t.name, proxyUrl: proxy.url, baseURL: app.url });
  const page = await browser.newPage({ extraHTTPHeaders: mocks.headers });
  await page.goto(app.url);
  const stream = await mocks.stream("https://llm.test/v1/chat/completions", { contentType: EVENT_STREAM });
  await page.getByRole("button", { name: "Ask" }).click();
  // The first request compiles the route.
  const asked = (await stream.request()).postDataJSON();
  assert.equal(asked.stream, true);
  const [answer, state] = ["answer", "state"].map((name) => expect(page.getByTestId(name)));
  const chat = new ChatCompletion(stream);
  await state.toHaveText("thinking");
  await chat.text("Hel");
  await answer.toHaveText("Hel");
  await state.toHaveText("thinking");
  await chat.text("lo");
  await answer.toHaveText("Hello");
  await chat.finish();
  await stream.end();
  await state.toHaveText("done");
  await mocks.end();
});
