// @ts-check
/** Builds the page. */

import { currentView, follow } from "./lib/address.js";
import { byId, fill } from "./lib/dom.js";
import { Poller } from "./data/poller.js";
import { Store } from "./data/store.js";
import { Banner } from "./shell/banner.js";
import { ClearedNote } from "./shell/cleared.js";
import { Header } from "./shell/header.js";
import { makeHelp } from "./shell/help.js";
import { listenForKeys } from "./shell/keys.js";
import { ConnectionsView } from "./views/connections.js";
import { httpView } from "./views/http.js";
import { OverviewView } from "./views/overview.js";
import { TestsView } from "./views/tests.js";
import { socketView } from "./views/sockets.js";

const store = new Store();
const poller = new Poller(store);
const help = makeHelp();
const header = new Header(byId("top"), { store, onpause: (paused) => poller.pause(paused), onhelp: help });
const banner = new Banner(byId("banner"), store);
const cleared = new ClearedNote(byId("cleared"), store);
/** @type {Record<string, any>} */
const views = {
  overview: new OverviewView(store),
  http: httpView(store),
  ws: socketView(store),
  tests: new TestsView(store),
  connections: new ConnectionsView(store),
};
let shown = "";

function show() {
  const name = currentView();
  if (name !== shown) {
    shown = name;
    fill(byId("main"), views[name].element);
    header.mark(name);
  }
  views[name].enter();
}

store.listen((what) => {
  if (what !== "tick") header.update();
  banner.update();
  cleared.update();
  views[shown].heard(what);
});
addEventListener("popstate", show);
addEventListener("click", follow);
listenForKeys({
  view: () => views[shown],
  help,
  pause: () => header.togglePause(),
  theme: () => header.theme.next(),
});
show();
poller.poke();
