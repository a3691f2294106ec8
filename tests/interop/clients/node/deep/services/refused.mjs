// Asks once by each of some libraries that repeat requests, by default or because they are told to; the arguments are
// their names. Prints what each call ends with. The hosts of those that can ask any are their names.
import Anthropic from "@anthropic-ai/sdk";
import { ListBucketsCommand, S3Client } from "@aws-sdk/client-s3";
import { drive as driveOf } from "@googleapis/drive";
import { WebClient } from "@slack/web-api";
import { createClient } from "@supabase/supabase-js";
import { algoliasearch } from "algoliasearch";
import axios from "axios";
import axiosRetry from "axios-retry";
import { request as gaxios } from "gaxios";
import ky from "ky";
import { Octokit } from "octokit";
import { ofetch } from "ofetch";
import OpenAI from "openai";
import Stripe from "stripe";
import twilio from "twilio";
import { Agent, RetryAgent, request } from "undici6";
import WebSocket from "ws";

const messages = [{ role: "user", content: "hi" }];
const retried = axios.create();
axiosRetry(retried, { retries: 3 });
const credentials = { accessKeyId: "id", secretAccessKey: "key" };
// Node 20 has no WebSocket of its own.
const supabase = createClient("http://supabase.test", "key", { realtime: { transport: WebSocket } });
const ofSupabase = async (asked) => {
  const { error } = await asked;
  throw error;
};

const CALLS = {
  stripe: () => new Stripe("sk_test_1", { telemetry: false }).charges.retrieve("ch_1"),
  openai: () => new OpenAI({ apiKey: "sk-test" }).chat.completions.create({ model: "any", messages }),
  anthropic: () => new Anthropic({ apiKey: "sk-test" }).messages.create({ model: "any", max_tokens: 10, messages }),
  googleapis: () => driveOf({ version: "v3", auth: "key" }).files.list(),
  slack: () => new WebClient("xoxb-test", { logLevel: "error" }).auth.test(),
  octokit: () => new Octokit({ auth: "key" }).rest.users.getAuthenticated(),
  algolia: () => algoliasearch("APP", "key").search({ requests: [{ indexName: "shop", query: "hat" }] }),
  twilio: () => twilio("AC1", "token", { autoRetry: true }).messages.create({ to: "+1", from: "+2", body: "hi" }),
  s3: () => new S3Client({ region: "eu-west-1", credentials }).send(new ListBucketsCommand()),
  "supabase.test": () => ofSupabase(supabase.from("shop").select()),
  "axios-retry.test": () => retried.get("http://axios-retry.test/"),
  "gaxios.test": () => gaxios({ url: "http://gaxios.test/", retry: true }),
  "ky.test": () => ky("http://ky.test/"),
  "ofetch.test": () => ofetch("http://ofetch.test/"),
  "retry-agent.test": () => request("http://retry-agent.test/", { dispatcher: new RetryAgent(new Agent()) }),
};

const ended = process.argv.slice(2).map(async (name) => {
  const message = await CALLS[name]().then(
    () => "no error",
    (error) => error.message,
  );
  return [name, message];
});
console.log(JSON.stringify(Object.fromEntries(await Promise.all(ended))));
// Supabase keeps a timer.
process.exit();
