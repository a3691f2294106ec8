// Makes every kind of request that a page can cause, one step after the other, and reports to the
// application which URLs each was to ask for and what failed. A URL of a step is
// /s/STEP or /s/STEP/WHAT.EXTENSION; the extension decides what is answered (sites.py).

const given = new URL(location.href).searchParams;
const origins = { app: location.origin, api: given.get("api"), third: given.get("third") };
const expected = [];
const steps = [];

const step = (name, run) => steps.push([name, run]);

const at = (site, path, query = {}) => {
  expected.push([site, `/s/${path}`]);
  return `${origins[site]}/s/${path}${Object.keys(query).length ? `?${new URLSearchParams(query)}` : ""}`;
};

const redirectTo = (site, path, to) => at(site, path, { to });

const element = (name, attributes, { parent = document.body, until = ["load"] } = {}) =>
  new Promise((resolve, reject) => {
    const made = document.createElement(name);
    for (const event of until) made.addEventListener(event, () => resolve(made));
    if (!until.includes("error")) made.addEventListener("error", () => reject(new Error(`<${name}> failed`)));
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    if (!until.length) resolve(made);
  });

const said = (target, name = "message") =>
  new Promise((resolve, reject) => {
    target.addEventListener(name, resolve, { once: true });
    target.addEventListener("error", () => reject(new Error("error event")), { once: true });
  });

const frame = (url) => element("iframe", { src: url });

const submit = async (method, url, { enctype = "application/x-www-form-urlencoded", file = false } = {}) => {
  const target = await element("iframe", { name: `frame${Math.random()}` });
  const form = await element("form", { method, action: url, enctype, target: target.name }, { until: [] });
  const input = await element("input", { name: "field", value: "value" }, { parent: form, until: [] });
  if (file) {
    const files = new DataTransfer();
    files.items.add(new File(["x".repeat(100000)], "file.txt"));
    input.type = "file";
    input.files = files.files;
  }
  const loaded = said(target, "load");
  form.submit();
  await loaded;
};

const text = async (url, options) => {
  const answer = await fetch(url, options);
  if (!answer.ok && answer.type !== "opaque") throw new Error(`${answer.status}`);
  return answer.text();
};

const JSON_BODY = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };

const xhr = (method, url, { body = null, headers = {}, credentials = false } = {}) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    request.withCredentials = credentials;
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.onload = () => resolve(request.responseText);
    request.onerror = () => reject(new Error("XMLHttpRequest failed"));
    request.send(body);
  });

const asked = async (path) => {
  // What nothing tells the page of: the server has to have seen it.
  while (!(await text(`/seen?path=${encodeURIComponent(path)}`)).startsWith("1"));
};

const socket = async (site, path) => {
  const opened = new WebSocket(at(site, path).replace(/^http/, "ws"));
  await said(opened);
  opened.close();
};

const events = async (url, options) => {
  const source = new EventSource(url, options);
  await said(source);
  source.close();
};

// Navigations
step("iframe", () => frame(at("app", "iframe/page.html")));
step("iframe-api", () => frame(at("api", "iframe-api/page.html")));
step("iframe-third", () => frame(at("third", "iframe-third/page.html")));
step("iframe-srcdoc", () => element("iframe", { srcdoc: `<img src="${at("app", "iframe-srcdoc/image.png")}">` }));
step("redirect", () => frame(redirectTo("app", "redirect/from", at("app", "redirect/page.html"))));
step("redirect-api", () => frame(redirectTo("app", "redirect-api/from", at("api", "redirect-api/page.html"))));
step("redirect-third-and-back", () =>
  frame(
    redirectTo(
      "app",
      "redirect-third-and-back/from",
      redirectTo("third", "redirect-third-and-back/through", at("app", "redirect-third-and-back/page.html")),
    ),
  ),
);
step("form-get", () => submit("get", at("app", "form-get/page.html")));
step("form-post", () => submit("post", at("app", "form-post/page.html")));
step("form-upload", () =>
  submit("post", at("app", "form-upload/page.html"), { enctype: "multipart/form-data", file: true }),
);
step("form-api", () => submit("post", at("api", "form-api/page.html")));
step("popup", async () => {
  const opened = open(at("app", "popup/page.html"));
  if (!opened) throw new Error("no window");
  while ((await said(window)).data !== "/s/popup/page.html");
  opened.close();
});
step("link", async () => {
  const target = await element("iframe", { name: "linked" });
  const link = await element("a", { href: at("app", "link/page.html"), target: "linked" }, { until: [] });
  const loaded = said(target, "load");
  link.click();
  await loaded;
});

// Subresources
step("image", () => element("img", { src: at("app", "image/image.png") }));
step("image-api", () => element("img", { src: at("api", "image-api/image.png") }));
step("image-third", () => element("img", { src: at("third", "image-third/image.png") }));
step("image-anonymous", () =>
  element("img", { src: at("api", "image-anonymous/image.png"), crossorigin: "anonymous" }),
);
step("image-srcset", () => element("img", { srcset: `${at("app", "image-srcset/image.png")} 1x` }));
step("svg", () => element("img", { src: at("app", "svg/image.svg") }));
step("stylesheet", () =>
  element("link", {
    rel: "stylesheet",
    href: at("app", "stylesheet/style.css", { import: at("api", "stylesheet/imported.css") }),
  }),
);
step("background", async () => {
  const image = at("app", "background/image.png");
  await element("link", { rel: "stylesheet", href: at("app", "background/style.css", { image }) });
  await asked("/s/background/image.png");
});
step("font", async () => {
  const font = new FontFace("step", `url(${at("app", "font/font.woff2")})`);
  await font.load().catch(() => undefined);
});
step("script", () => element("script", { src: at("app", "script/script.js") }));
step("script-async-api", () => element("script", { src: at("api", "script-async-api/script.js"), async: "" }));
step("script-third", () => element("script", { src: at("third", "script-third/script.js") }));
step("module", () =>
  element("script", { type: "module", src: at("app", "module/module.mjs", { import: at("api", "module/part.mjs") }) }),
);
step("import", () => import(at("app", "import/part.mjs")));
step("preload", () => element("link", { rel: "preload", as: "image", href: at("app", "preload/image.png") }));
step("modulepreload", () => element("link", { rel: "modulepreload", href: at("app", "modulepreload/part.mjs") }));
step("prefetch", async () => {
  if (!document.createElement("link").relList.supports("prefetch")) return "not supported";
  await element("link", { rel: "prefetch", href: at("app", "prefetch/page.html") }, { until: [] });
  await asked("/s/prefetch/page.html");
});
step("media", () => element("video", { src: at("app", "media/film.mp4") }, { until: ["error", "loadeddata"] }));
step("object", () => element("object", { data: at("app", "object/page.html"), type: "text/html" }));

// Requests by script
step("fetch", () => text(at("app", "fetch")));
step("fetch-omit", () => text(at("app", "fetch-omit"), { credentials: "omit" }));
step("fetch-post", () => text(at("app", "fetch-post"), JSON_BODY));
step("fetch-api", () => text(at("api", "fetch-api")));
step("fetch-api-include", () => text(at("api", "fetch-api-include"), { credentials: "include" }));
step("fetch-api-preflight", () => text(at("api", "fetch-api-preflight"), JSON_BODY));
step("fetch-api-put", () => text(at("api", "fetch-api-put"), { ...JSON_BODY, method: "PUT", credentials: "include" }));
step("fetch-third", () => text(at("third", "fetch-third")));
step("fetch-third-no-cors", () => text(at("third", "fetch-third-no-cors"), { mode: "no-cors", method: "POST" }));
step("fetch-redirect-api", () =>
  text(redirectTo("app", "fetch-redirect-api/from", at("api", "fetch-redirect-api/to"))),
);
step("fetch-redirect-third", () =>
  text(redirectTo("app", "fetch-redirect-third/from", at("third", "fetch-redirect-third/to"))),
);
step("fetch-keepalive", () => text(at("app", "fetch-keepalive"), { keepalive: true, method: "POST", body: "x" }));
step("xhr", () => xhr("GET", at("app", "xhr")));
step("xhr-api", () => xhr("GET", at("api", "xhr-api")));
step("xhr-api-preflight", () => xhr("POST", at("api", "xhr-api-preflight"), { ...JSON_BODY, credentials: true }));
step("xhr-third", () => xhr("GET", at("third", "xhr-third")));
step("beacon", async () => {
  navigator.sendBeacon(at("app", "beacon"), "x");
  await asked("/s/beacon");
});
step("beacon-api", async () => {
  navigator.sendBeacon(at("api", "beacon-api"), "x");
  await asked("/s/beacon-api");
});
step("server-sent-events", () => events(at("app", "server-sent-events/lines.events")));
step("server-sent-events-api", () => events(at("api", "server-sent-events-api/lines.events")));
step("websocket", () => socket("app", "websocket"));
step("websocket-api", () => socket("api", "websocket-api"));
step("websocket-third", () => socket("third", "websocket-third"));

// Workers
const WORKER = { own: "worker/fetched", api: "worker/api" };
step("worker", () =>
  said(new Worker(at("app", "worker/worker.js", { fetch: at("app", WORKER.own), also: at("api", WORKER.api) }))),
);
step("worker-module", () =>
  said(
    new Worker(at("app", "worker-module/worker.js", { fetch: at("app", "worker-module/fetched") }), { type: "module" }),
  ),
);
step("shared-worker", async () => {
  if (!window.SharedWorker) return "not supported";
  const fetched = at("app", "shared-worker/fetched");
  const shared = new SharedWorker(at("app", "shared-worker/worker.js", { fetch: fetched }));
  shared.port.start();
  await said(shared.port);
});
step("service-worker", async () => {
  if (!navigator.serviceWorker) return "not supported";
  const installed = at("app", "service-worker/installed");
  const registration = await navigator.serviceWorker.register(
    at("app", "service-worker/worker.js", { fetch: installed }),
  );
  const worker = registration.installing ?? registration.waiting ?? registration.active;
  while (worker.state !== "activated") await said(worker, "statechange");
  await frame(at("app", "service-worker/page.html"));
  await registration.unregister();
});

const SECONDS = 60;
const late = () =>
  new Promise((_, reject) => setTimeout(() => reject(new Error(`not done after ${SECONDS} s`)), SECONDS * 1000));

// To try some of them by hand: &only=image,worker
const only = given.get("only")?.split(",");
const done = {};
for (const [name, run] of steps) {
  if (only && !only.includes(name)) continue;
  try {
    done[name] = (await Promise.race([run(), late()])) === "not supported" ? "not supported" : "";
  } catch (error) {
    done[name] = String(error);
  }
}
await text("/report", { method: "POST", body: JSON.stringify({ steps: done, expected }) });
location.href = `/kept?${new URLSearchParams({ turn: 1 })}`;
