// @ts-check
/** The page with the list of WebSockets. */

import { OUTCOMES } from "../data/actions.js";
import { SocketDetail } from "../detail/socket.js";
import { SOCKET_COLUMNS } from "../grid/columns.js";
import { ListView } from "./list-view.js";

/** @param {import("../data/store.js").Store} store */
export function socketView(store) {
  return new ListView({
    store,
    what: "sockets",
    api: "ws",
    key: "connection",
    label: "WebSockets",
    columns: SOCKET_COLUMNS,
    actions: OUTCOMES,
    makeDetail: (onclose) => new SocketDetail({ store, onclose }),
    empty: "No WebSocket yet. Those that an application with an agent opens are listed here.",
  });
}
