"use strict";

const { access, mkdir, readFile } = require("node:fs/promises");
const path = require("node:path");
const { unzipSync, zipSync } = require("fflate");
const { version } = require("../../package.json");
const { UsageError } = require("../errors.js");
const { rewriteWhole } = require("../whole-files.js");

/** The name of the HAR within an archive. */
const IN_ARCHIVE = "har.har";

/** A HAR on disk: a JSON file with body files beside it, or a zip archive of both. */
class HarFile {
  /** @param {string} file */
  constructor(file) {
    /** As the test gave it, for messages. */
    this.name = file;
    this.file = path.resolve(file);
    this.isArchive = path.extname(file) === ".zip";
  }

  /** @returns {Promise<boolean>} whether the file is there */
  exists() {
    return access(this.file).then(
      () => true,
      () => false,
    );
  }

  /**
   * Read the entries.
   *
   * @returns {Promise<any[]>}
   * @throws {UsageError} the file is missing, cannot be read, or is no HAR
   */
  async entries() {
    try {
      const text = decoded(this.isArchive ? await this.readArchived() : await readFile(this.file));
      const { log } = JSON.parse(text);
      // A log without the list has no entries, as for Playwright.
      const entries = log && !Array.isArray(log) && typeof log === "object" ? (log.entries ?? []) : undefined;
      return [...entries];
    } catch (error) {
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code === "ENOENT") {
        const how = `run the test once with routeFromHAR(${JSON.stringify(this.name)}, { mode: "once" })`;
        throw new UsageError(`there is no HAR ${this.name}. To record it, ${how}`);
      }
      if (code) throw new UsageError(`${this.name} cannot be read: ${message}`);
      throw new UsageError(`${this.name} is no HAR: it is not JSON with a list log.entries`);
    }
  }

  async readArchived() {
    const files = unzipSync(await readFile(this.file));
    const name = files[IN_ARCHIVE] ? IN_ARCHIVE : Object.keys(files).find((each) => each.endsWith(".har"));
    return files[name ?? IN_ARCHIVE] ?? new Uint8Array();
  }

  /**
   * Read a body from a file beside the HAR, or from the archive.
   *
   * @param {string} name
   * @returns {Promise<Buffer>}
   * @throws {UsageError} the name leads out of the HAR's directory, or the archive does not have it
   * @throws {Error} the file cannot be read
   */
  async read(name) {
    const wanted = this.beside(name);
    if (!this.isArchive) return readFile(wanted);
    const content = unzipSync(await readFile(this.file), { filter: (each) => each.name === name })[name];
    if (!content) throw new UsageError(`${name} is not in ${this.name}`);
    return Buffer.from(content);
  }

  /** @param {string} name */
  beside(name) {
    const directory = path.dirname(this.file);
    const wanted = path.resolve(directory, name);
    if (wanted.startsWith(directory + path.sep)) return wanted;
    throw new UsageError(`${JSON.stringify(name)} leads out of the directory of ${this.name}`);
  }

  /**
   * Write the HAR and its body files, each as a whole, and the HAR last.
   *
   * @param {any[]} entries
   * @param {Map<string, Buffer>} files
   */
  async save(entries, files) {
    const document = { log: { version: "1.2", creator: { name: "trafficmock", version }, entries } };
    const text = Buffer.from(JSON.stringify(document, undefined, 2));
    const directory = path.dirname(this.file);
    await mkdir(directory, { recursive: true });
    if (this.isArchive) {
      rewriteWhole(this.file, zipSync({ [IN_ARCHIVE]: text, ...Object.fromEntries(files) }));
      return;
    }
    for (const [name, content] of files) rewriteWhole(path.join(directory, name), content);
    rewriteWhole(this.file, text);
  }
}

/**
 * Decode a HAR: UTF-8, or what a byte order mark says. HAR 1.2 has readers ignore the mark.
 *
 * @param {Uint8Array} bytes
 */
function decoded(bytes) {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}

module.exports = { HarFile };
