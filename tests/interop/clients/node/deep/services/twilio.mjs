import twilio from "twilio";
import { run } from "../../lib/harness.mjs";

const client = twilio(`AC${"0".repeat(32)}`, "token");
const sid = ({ sid }) => sid;

await run({
  send: () => client.messages.create({ from: "+1", to: "+2", body: "grün" }).then(sid),
  "send again": () => client.messages.create({ from: "+1", to: "+2", body: "again" }).then(sid),
  list: () => client.messages.list({ limit: 1 }).then((found) => found.map(sid)),
  "status 404": () => client.messages("missing").fetch().then(sid),
});
