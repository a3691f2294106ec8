// A script for any place: in a page it does nothing, as a worker it fetches what its URL says.
"use strict";

const query = new URL(self.location.href).searchParams;
const fetched = async () => {
  for (const name of ["fetch", "also"]) {
    if (query.get(name)) await (await fetch(query.get(name))).text();
  }
};

if ("skipWaiting" in self) {
  self.addEventListener("install", (event) => event.waitUntil(fetched().then(() => self.skipWaiting())));
  self.addEventListener("fetch", (event) => event.respondWith(fetch(event.request)));
} else if ("onconnect" in self) {
  self.onconnect = ({ ports: [port] }) => fetched().then(() => port.postMessage("done"));
} else if (!("document" in self)) {
  fetched().then(() => self.postMessage("done"));
}
