import FormData from "form-data";
import Mailgun from "mailgun.js";
import { ServerClient } from "postmark";
import { Resend } from "resend";
import { run } from "../lib/harness.mjs";

const mail = { from: "shop@shop.test", to: "a@shop.test", subject: "hi", text: "grün" };
const key = { username: "api", key: "key-1", url: "https://vendor.test" };
const mailgun = new Mailgun(FormData).client(key);
const globalForm = new Mailgun(globalThis.FormData).client({ ...key, useFetch: true });
const postmark = new ServerClient("token");
const resend = new Resend("re_1");
const postmarked = { From: mail.from, To: mail.to, Subject: "hi", TextBody: "grün" };

await run({
  "mailgun: npm form-data": async () => (await mailgun.messages.create("shop.test", mail)).id,
  "mailgun: FormData": async () => (await globalForm.messages.create("shop.test", mail)).id,
  postmark: async () => (await postmark.sendEmail(postmarked)).MessageID,
  "postmark: many": () => postmark.sendEmailBatch([postmarked, postmarked]),
  resend: () => resend.emails.send(mail),
  "resend: refused": async () => (await resend.domains.get("none")).error.message,
});
