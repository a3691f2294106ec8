"use strict";

/*
 * Which parts of a text of JavaScript are code, and which are strings, templates, comments and regular expressions: what is
 * written into a text must not change what a string says. This is no parser: it reads each character once, and tells a division from
 * a regular expression by the token before it.
 */

/** Kinds of what is no code. */
const KINDS = { string: 1, template: 2, comment: 3, expression: 4 };

/** Brackets that are open. */
const PAREN = 1;
const SQUARE = 2;
const BLOCK = 3;
const OBJECT = 4;
const SUBSTITUTION = 5;

/** Words behind which an operand follows, and so a regular expression rather than a division. */
const BEFORE_OPERANDS = new Set(
  "return typeof case in of do else void delete instanceof new throw await yield extends default".split(" "),
);

/** Words whose parenthesis is no operand: a statement follows. */
const HEADS = new Set("if while for with switch catch".split(" "));

/** What stands before a block rather than before an object, besides operands. */
const BEFORE_BLOCKS = new Set(["", ";", "{", "}", ")", "=>", "else", "do", "try", "finally"]);

/** The longest of these words. */
const LONGEST = 10;

/** What follows `class` where it is the name of a property. */
const AFTER_NAMES = ":(,=;}";

/** Whether an ASCII character is one of a word; of an escape, of a number and of a private name, too. */
const IN_WORD = Array.from({ length: 128 }, (_, code) => /[\w$\\#]/.test(String.fromCharCode(code)));

/** @param {number} code of a character */
const isInWord = (code) => (code < 128 ? IN_WORD[code] : !isSpace(code));

/** @param {number} code of a character */
const isSpace = (code) =>
  code <= 32 ||
  (code >= 128 && (code === 0xa0 || code === 0xfeff || (code >= 0x2000 && /\s/.test(String.fromCharCode(code)))));

/** @param {number} code of a character */
const isLineEnd = (code) => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

/** A text that is read. */
class Code {
  /** The first and the last character of each part that is no code, and its kind. */
  starts = /** @type {number[]} */ ([]);
  ends = /** @type {number[]} */ ([]);
  kinds = /** @type {number[]} */ ([]);
  /** The bodies of classes and functions, from their first brace to their last one. @type {{ start: number, end: number, isClass: boolean }[]} */
  bodies = [];
  /** Whether all of it could be read: no string is open at the end of its line, and no bracket at the end of the text. */
  isSound = true;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.isSound = new Reader(text, this).read();
  }

  /**
   * @param {number} at
   * @returns {number} the index of the part that has this character; -1, if it is code
   */
  partAt(at) {
    const { starts, ends } = this;
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] > at) high = middle;
      else low = middle + 1;
    }
    return low > 0 && at < ends[low - 1] ? low - 1 : -1;
  }

  /** @param {number} at @param {boolean} isClass @returns {{ start: number, end: number } | undefined} the innermost body with it */
  bodyAt(at, isClass) {
    let found;
    for (const body of this.bodies) {
      if (body.isClass !== isClass || body.start > at || body.end < at) continue;
      if (!found || body.start > found.start) found = body;
    }
    return found;
  }
}

/** Reads one text. */
class Reader {
  /** @param {string} text @param {Code} code */
  constructor(text, code) {
    this.text = text;
    this.code = code;
    this.at = 0;
    /** Whether the token before is the end of an operand. */
    this.isOperand = false;
    /** The token before: a punctuator, or one of the words above; another word is `a`. */
    this.last = "";
    /** @type {{ kind: number, start: number, isHead?: boolean, body?: "class" | "function" }[]} */
    this.open = [];
    /** How many brackets are open around each `class` whose body has not begun. @type {number[]} */
    this.classes = [];
  }

  /** @returns {boolean} whether all could be read */
  read() {
    const { text } = this;
    if (text.startsWith("#!")) this.comment(0);
    while (this.at < text.length) {
      if (!this.token(text.charCodeAt(this.at))) return false;
    }
    return this.open.length === 0;
  }

  /** @param {number} code of the next character @returns {boolean} whether it could be read */
  token(code) {
    if (isSpace(code)) return this.pass(1);
    if (isInWord(code)) return this.word();
    switch (code) {
      case 34: // "
      case 39: // '
        return this.string(code);
      case 96: // `
        return this.template();
      case 47: // /
        return this.slash();
      case 40: // (
        return this.begin({ kind: PAREN, start: this.at, isHead: HEADS.has(this.last) }, "(");
      case 91: // [
        return this.begin({ kind: SQUARE, start: this.at }, "[");
      case 123: // {
        return this.brace();
      case 41: // )
      case 93: // ]
      case 125: // }
        return this.finish(code);
      case 43: // +
      case 45: // -
        if (this.text.charCodeAt(this.at + 1) === code) return this.pass(2);
        return this.punctuator("+");
      case 61: // =
        if (this.text.charCodeAt(this.at + 1) === 62) {
          this.at += 1;
          return this.punctuator("=>");
        }
    }
    return this.punctuator(this.text[this.at]);
  }

  /** @param {number} many characters that say nothing */
  pass(many) {
    this.at += many;
    return true;
  }

  /** @param {string} one */
  punctuator(one) {
    if (this.last === "class" && AFTER_NAMES.includes(one)) this.classes.pop();
    this.at += 1;
    this.last = one;
    this.isOperand = false;
    return true;
  }

  word() {
    const { text, last } = this;
    const start = this.at;
    while (this.at < text.length && isInWord(text.charCodeAt(this.at))) this.at += 1;
    const word = last === "." || this.at - start > LONGEST ? "a" : text.slice(start, this.at);
    const isKnown = BEFORE_OPERANDS.has(word) || BEFORE_BLOCKS.has(word) || HEADS.has(word) || word === "class";
    this.last = isKnown ? word : "a";
    this.isOperand = !BEFORE_OPERANDS.has(word);
    if (word === "class") this.classes.push(this.open.length);
    return true;
  }

  /**
   * @param {number} start
   * @param {number} kind
   * @returns {true}
   */
  part(start, kind) {
    const { code } = this;
    code.starts.push(start);
    code.ends.push(this.at);
    code.kinds.push(kind);
    if (kind === KINDS.comment) return true;
    this.last = "a";
    this.isOperand = true;
    return true;
  }

  /** @param {number} quote */
  string(quote) {
    const { text } = this;
    const start = this.at;
    for (let at = start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.at = at + 1;
        return this.part(start, KINDS.string);
      }
      if (code === 10 || code === 13) return false;
      if (code === 92) at += text.charCodeAt(at + 1) === 13 && text.charCodeAt(at + 2) === 10 ? 2 : 1;
    }
    return false;
  }

  /** Read a template, or what follows a substitution of it, as far as the next one. */
  template() {
    const { text } = this;
    const start = this.at;
    for (let at = start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 92) at += 1;
      else if (code === 96 || (code === 36 && text.charCodeAt(at + 1) === 123)) {
        this.at = code === 96 ? at + 1 : at + 2;
        this.part(start, KINDS.template);
        if (code === 96) return true;
        this.open.push({ kind: SUBSTITUTION, start: at });
        this.last = "(";
        this.isOperand = false;
        return true;
      }
    }
    return false;
  }

  slash() {
    const next = this.text.charCodeAt(this.at + 1);
    if (next === 47) return this.comment(this.at);
    if (next === 42) {
      const start = this.at;
      const end = this.text.indexOf("*/", start + 2);
      this.at = end + 2;
      return end >= 0 && this.part(start, KINDS.comment);
    }
    return this.isOperand ? this.punctuator("/") : this.expression();
  }

  /** @param {number} start of a comment that ends with its line */
  comment(start) {
    const { text } = this;
    while (this.at < text.length && !isLineEnd(text.charCodeAt(this.at))) this.at += 1;
    return this.part(start, KINDS.comment);
  }

  /** Read a regular expression. */
  expression() {
    const { text } = this;
    const start = this.at;
    let isInSet = false;
    for (let at = start + 1; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (isLineEnd(code)) return false;
      if (code === 92) at += 1;
      else if (code === 91) isInSet = true;
      else if (code === 93) isInSet = false;
      else if (code === 47 && !isInSet) {
        this.at = at + 1;
        while (this.at < text.length && isInWord(text.charCodeAt(this.at))) this.at += 1;
        return this.part(start, KINDS.expression);
      }
    }
    return false;
  }

  /** @param {{ kind: number, start: number, isHead?: boolean, body?: "class" | "function" }} bracket @param {string} one */
  begin(bracket, one) {
    this.punctuator(one);
    this.open.push(bracket);
    return true;
  }

  brace() {
    const { last, open, classes } = this;
    const start = this.at;
    if (classes.at(-1) === open.length && last !== ":") {
      classes.pop();
      return this.begin({ kind: BLOCK, start, body: "class" }, "{");
    }
    const isInObject = open.at(-1)?.kind === OBJECT;
    const isBlock = this.isOperand || BEFORE_BLOCKS.has(last) || (last === ":" && !isInObject);
    const isFunction = last === "=>" || (last === ")" && this.isOperand);
    return this.begin({ kind: isBlock ? BLOCK : OBJECT, start, body: isFunction ? "function" : undefined }, "{");
  }

  /** @param {number} code of a closing bracket */
  finish(code) {
    const { open, classes } = this;
    const bracket = open.pop();
    if (!bracket) return false;
    while (classes.length > 0 && classes[classes.length - 1] > open.length) classes.pop();
    const { kind, start, isHead, body } = bracket;
    if (kind === SUBSTITUTION) return code === 125 && this.template();
    if (code !== (kind === PAREN ? 41 : kind === SQUARE ? 93 : 125)) return false;
    this.punctuator(this.text[this.at]);
    this.isOperand = kind === PAREN ? !isHead : kind !== BLOCK;
    if (body) this.code.bodies.push({ start, end: this.at, isClass: body === "class" });
    return true;
  }
}

module.exports = { Code, KINDS };
