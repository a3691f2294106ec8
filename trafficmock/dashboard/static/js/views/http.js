// @ts-check
/** The page with the list of HTTP requests. */

import { ACTIONS } from "../data/actions.js";
import { RequestDetail } from "../detail/request.js";
import { REQUEST_COLUMNS } from "../grid/columns.js";
import { change } from "../lib/address.js";
import { ListView } from "./list-view.js";

/** @param {import("../data/store.js").Store} store */
export function httpView(store) {
  /** @type {ListView} */
  const view = new ListView({
    store,
    what: "requests",
    api: "history",
    key: "entry",
    label: "HTTP requests",
    columns: REQUEST_COLUMNS,
    actions: ACTIONS,
    makeDetail: (onclose) =>
      new RequestDetail({
        store,
        onclose,
        onwalk: (id) => {
          change({ id }, { push: true });
          view.show(id);
        },
      }),
    empty: "No request yet. Start the application with its agent (trafficmock run -- …), and let it call something.",
  });
  return view;
}
