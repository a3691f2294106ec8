/** WebSockets are not accepted by a server of the usual run. */
export const acceptSockets = () => {};
