import { PassThrough } from "node:stream";
import fetch from "cross-fetch";
import OAuth2Strategy from "passport-oauth2";
import request from "request";
import soap from "soap";
import { HTTP, HTTPS, run, text } from "../lib/harness.mjs";

const asked = (options) =>
  new Promise((resolve, reject) =>
    request(options, (error, response, body) => (error ? reject(error) : resolve([response.statusCode, body]))),
  );
const piped = (sent) =>
  new Promise((resolve, reject) => {
    text(sent.on("error", reject).pipe(new PassThrough())).then(resolve, reject);
  });
const strategy = new OAuth2Strategy(
  {
    authorizationURL: "https://vendor.test/authorize",
    tokenURL: "https://vendor.test/token",
    clientID: "id",
    clientSecret: "secret",
    callbackURL: "http://localhost/back",
  },
  () => {},
);

await run({
  "request: JSON": () => asked({ uri: `${HTTPS}/json`, json: true }),
  "request: form": () => asked({ uri: `${HTTPS}/echo`, method: "POST", form: { a: "1", b: "grün" } }),
  "request: multipart": () =>
    asked({ uri: `${HTTPS}/status/200`, method: "POST", formData: { a: "1", file: Buffer.from("x") } }),
  "request: gzip": () => asked({ uri: `${HTTPS}/gzip`, gzip: true }),
  "request: forever": () => asked({ uri: `${HTTP}/json`, forever: true }),
  "request: pipe": () => piped(request(`${HTTPS}/chunked`)),
  "request: redirect": () => asked({ uri: `${HTTPS}/redirect/302`, followRedirect: true }),
  "cross-fetch: JSON": async () => (await fetch(`${HTTPS}/json`)).json(),
  "cross-fetch: POST": async () => (await fetch(`${HTTPS}/echo`, { method: "POST", body: "body" })).json(),
  "soap: a call": async () => {
    const client = await soap.createClientAsync("http://vendor.test/soap?wsdl");
    return (await client.PriceAsync({ id: "1" }))[0];
  },
  "passport-oauth2: a token": () =>
    new Promise((resolve, reject) =>
      strategy._oauth2.getOAuthAccessToken("code", {}, (error, token) => (error ? reject(error) : resolve(token))),
    ),
});
