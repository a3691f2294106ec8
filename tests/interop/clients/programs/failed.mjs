// How the programs in JavaScript say that a request failed, and when they give an answer up.

const SECONDS = Number(process.env.CLIENT_SECONDS ?? "20");

/** Ends a request as the application that waits no longer. */
export const givenUp = () => AbortSignal.timeout(SECONDS * 1000);

/** The error with its cause, and the codes (else the names) of it and its causes. */
export const failed = (error) => ({ error: `${error}: ${error.cause ?? ""}`, causes: causes(error) });

const causes = (error) => (error ? [named(error), ...causes(error.cause)] : []);

// The code of a DOMException is a number.
const named = ({ code, name }) => (typeof code === "string" ? code : name);
