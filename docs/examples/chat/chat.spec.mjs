// The page is looked at between two tokens of the model.
import { expect, test } from "trafficmock-playwright";
import { ChatCompletion, EVENT_STREAM } from "trafficmock-playwright/llm";

test("tokens", async ({ page, trafficmock }) => {
  const stream = await trafficmock.stream("**/v1/chat/completions", { contentType: EVENT_STREAM });
  await page.goto("/");
  await page.getByRole("button", { name: "Ask" }).click();
  const [said, model] = [expect(page.getByRole("status")), new ChatCompletion(stream)];
  await model.text("Warm ");
  await said.toHaveText("Warm");
  await model.text("the pot.");
  await said.toHaveText("Warm the pot.");
  await model.finish();
  await stream.end();
  await said.toHaveText("Warm the pot. (done)");
});

test("breaks off", async ({ page, trafficmock }) => {
  const stream = await trafficmock.stream("**/v1/chat/completions", { contentType: EVENT_STREAM });
  await page.goto("/");
  await page.getByRole("button", { name: "Ask" }).click();
  const [said, model] = [expect(page.getByRole("status")), new ChatCompletion(stream)];
  for (const token of ["Warm ", "the ", "pot "]) await model.text(token);
  await said.toHaveText("Warm the pot");
  await stream.abort();
  await said.toHaveText("Warm the pot (broken off)");
});
