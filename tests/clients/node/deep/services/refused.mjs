// Asks once by each library that repeats requests, with what it repeats by, and prints what each call ends with.
import Anthropic from "@anthropic-ai/sdk";
import { drive as driveOf } from "@googleapis/drive";
import axios from "axios";
import axiosRetry from "axios-retry";
import ky from "ky";
import { ofetch } from "ofetch";
import OpenAI from "openai";
import Stripe from "stripe";

const messages = [{ role: "user", content: "hi" }];
const retried = axios.create();
axiosRetry(retried, { retries: 3 });

const CALLS = {
  stripe: () => new Stripe("sk_test_1", { telemetry: false }).charges.retrieve("ch_1"),
  openai: () => new OpenAI({ apiKey: "sk-test" }).chat.completions.create({ model: "any", messages }),
  anthropic: () => new Anthropic({ apiKey: "sk-test" }).messages.create({ model: "any", max_tokens: 10, messages }),
  googleapis: () => driveOf({ version: "v3", auth: "key" }).files.list(),
  "axios-retry": () => retried.get("http://axios-retry.test/"),
  ky: () => ky("http://ky.test/"),
  ofetch: () => ofetch("http://ofetch.test/"),
};

const ended = Object.entries(CALLS).map(async ([name, call]) => {
  const message = await call().then(
    () => "no error",
    (error) => error.message,
  );
  return [name, message];
});
console.log(JSON.stringify(Object.fromEntries(await Promise.all(ended))));
