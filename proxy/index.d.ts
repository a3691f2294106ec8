/**
 * Find the environment of Python with the proxy, or make it from the wheel in this package.
 *
 * It is made once for each version, in the user's cache directory, by `uv` or by a Python from 3.11 on, which bring what
 * the wheel needs from PyPI. One line on standard error says so.
 *
 * @returns the words of a command line with which `trafficmock` is called
 * @throws {EnvironmentError} neither `uv` nor such a Python is there, or the installation fails
 */
export function trafficmockCommand(): string[];

/** There is no environment, and none could be made. The message says what to install. */
export class EnvironmentError extends Error {}
