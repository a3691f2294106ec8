import mail from "@sendgrid/mail";
import { run } from "../../lib/harness.mjs";

mail.setApiKey("SG.test");
const to = (address) => ({ to: `${address}@shop.test`, from: "shop@shop.test", subject: "hi", text: "grün" });

await run({
  send: () => mail.send(to("somebody")).then(([{ statusCode, headers }]) => ({ statusCode, headers: { ...headers } })),
  "send many": () => mail.send([to("one"), to("two")]).then((sent) => sent.length),
  refused: () => mail.send(to("nobody")),
});
