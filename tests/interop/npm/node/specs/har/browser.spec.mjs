import { writeFile } from "node:fs/promises";
import { chromium } from "@playwright/test";
import { answered, expect, fresh, har, row, seenUpstream, test } from "../../lib/fixtures.mjs";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

test("a recorded page replays through Playwright's own routeFromHAR", async ({ app }, testInfo) => {
  const url = fresh("page");
  await app.fetch(url);
  const { id } = await row(url, answered);
  const file = testInfo.outputPath("page.har");
  await writeFile(file, JSON.stringify((await har(id)).body));
  const browser = await chromium.launch({ executablePath: process.env.E2E_CHROMIUM, args: ARGUMENTS });
  try {
    const page = await browser.newPage();
    await page.routeFromHAR(file, { notFound: "abort" });
    const response = await page.goto(url);
    expect(response.status()).toBe(200);
    expect(await page.title()).toBe("page");
  } finally {
    await browser.close();
  }
  expect(await seenUpstream(url)).toHaveLength(1);
});
