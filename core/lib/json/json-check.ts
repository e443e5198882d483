import { isUtf8 } from 'node:buffer';
import { startsWithMark } from '../byte-order-mark.js';
import { findInvalidUtf8, isContinuation, MAX_CHARACTER_BYTES } from '../invalid-utf8.js';
import { forEachInSlices } from '../slices.js';
import { compileModule } from '../wasm-module.js';
import { BracketStack } from './bracket-stack.js';

/** The exports of core/lib/wasm/json-check.ts. */
interface Checker {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Offset of the text in memory. */
  readonly TEXT: { readonly value: number };
  check(length: number, isLast: boolean): number;
  checkLines(length: number): number;
  resume(
    length: number,
    isLast: boolean,
    carriedBytes: number,
    depth: number,
    bracket: number,
    isName: boolean,
  ): number;
  bracketsAfter(length: number): number;
  /** The address of the first byte that cannot be there, after 0. */
  readonly invalidAt: { readonly value: number };
  /** The state that `resume` takes back, after 2. */
  readonly carried: { readonly value: number };
  readonly depthOfOpen: { readonly value: number };
  readonly bracketsOfOpen: { readonly value: number };
  readonly bracketOfOpen: { readonly value: number };
  readonly isNameOfOpen: { readonly value: number };
  /** The depth of the last value, after 1. */
  readonly depthOfLast: { readonly value: number };
  readonly membersOfLast: { readonly value: number };
  readonly valuesOfLast: { readonly value: number };
}

/** The structure of a JSON text. */
interface JsonMeasures {
  /** The depth of nested arrays and objects. */
  readonly depth: number;
  /** The members of all objects, repeated ones included. */
  readonly members: number;
  /** All values, arrays and objects included. */
  readonly values: number;
}

const PAGE_BYTES = 65_536;
/** Larger memory is released after the check. */
const KEPT_BYTES = 4 * 1024 * 1024;

const createChecker = compileModule<Checker>(new URL('../wasm/json-check.wasm', import.meta.url));
const reusedChecker = createChecker();

const IS_JSON = 1;
const IS_OPEN = 2;
/** A longer text is checked in parts: the kept memory is enough, and others wait for 2 ms. Bytes. */
export const MAX_PART_BYTES = 1_048_576;
/**
 * No text of `MAX_PART_BYTES` can be nested deeper. Each level takes a bit between two chunks: 64 KiB
 * for all.
 */
const MAX_DEPTH = MAX_PART_BYTES / 2;
/** The maximum that a chunk continues of the one before it. Bytes. */
const MAX_CARRIED_BYTES = 16;
const NONE = Buffer.alloc(0);
const SPACE = 0x20;
const MARK_BYTES = 3;

/** The reason for JSON whose arrays and objects are nested beyond the limit. */
export const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels` as const;

export interface InvalidJson {
  readonly reason: 'not valid UTF-8' | 'not valid JSON' | typeof TOO_DEEP;
  /**
   * The first byte that cannot be there, from 0; the length for a text that ends too early. For one
   * that is nested too deeply, a byte after the first level beyond the limit.
   */
  readonly at: number;
}

/**
 * Returns the reason why the bytes are not JSON in UTF-8 (RFC 8259, as `JSON.parse` decides), or
 * `null`. A byte-order mark is ignored. It builds no value: for rows of a table it needs a fifth of
 * the time of `JSON.parse` and leaves no garbage.
 * @param length the bytes of all pieces
 */
export function findInvalidJson(pieces: readonly Uint8Array[], length: number): InvalidJson | null {
  const checker = load(pieces, length);
  const text = checker.TEXT.value;
  const copy = new Uint8Array(checker.memory.buffer, text, length);
  blankMark(copy);
  if (!isUtf8(copy)) return { reason: 'not valid UTF-8', at: findInvalidUtf8(copy) };
  if (checker.check(length, true) !== IS_JSON) {
    return { reason: 'not valid JSON', at: checker.invalidAt.value - text };
  }
  return checker.depthOfLast.value > MAX_DEPTH ? { reason: TOO_DEEP, at: length } : null;
}

/**
 * The start of the first line that is neither JSON nor blank; -1 without one.
 * @param lines in UTF-8, the last one with its line feed
 */
export function findInvalidLine(lines: Uint8Array): number {
  const start = load([lines], lines.length).checkLines(lines.length);
  return start === lines.length ? -1 : start;
}

/**
 * Works like `findInvalidJson`, without blocking the event loop. Invalid UTF-8 behind invalid JSON is not
 * found.
 */
export async function findInvalidJsonInSlices(
  pieces: readonly Uint8Array[],
): Promise<InvalidJson | null> {
  const check = new JsonCheck();
  let invalid: InvalidJson | null = null;
  await forEachInSlices(listAllParts(pieces), (part) => {
    invalid ??= check.add(part);
  });
  return invalid ?? check.end();
}

function* listAllParts(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const piece of pieces) yield* listParts(piece);
}

/** Divides bytes into parts that can be handled at once. */
export function* listParts(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += MAX_PART_BYTES) {
    yield bytes.subarray(start, start + MAX_PART_BYTES);
  }
}

/** The state of a checker between two chunks. */
interface OpenText {
  /** Stands for what the last chunk has cut. */
  readonly carried: Uint8Array;
  readonly bracket: number;
  readonly isName: boolean;
}

const NOTHING_OPEN: OpenText = { carried: NONE, bracket: 0, isName: false };

/**
 * Checks a text that arrives in chunks, which may be cut anywhere: the text is valid if `add` and `end` return `null`.
 * Keeps a few bytes between two chunks, and one bit for each open bracket.
 */
export class JsonCheck {
  /** Bytes that were checked. */
  #checked = 0;
  #open = NOTHING_OPEN;
  /** The start of a character. */
  #cut: Uint8Array = NONE;
  /** The brackets around the innermost open one. */
  readonly #stack = new BracketStack();
  #depth = 0;

  /** Returns the reason why the text cannot become valid; then do not continue. */
  add(chunk: Uint8Array): InvalidJson | null {
    for (const part of listParts(chunk)) {
      const invalid = this.#check(part, false);
      if (invalid !== null) return invalid;
    }
    return null;
  }

  /** Returns the reason why the complete text is invalid. */
  end(): InvalidJson | null {
    return this.#check(NONE, true);
  }

  #check(chunk: Uint8Array, isLast: boolean): InvalidJson | null {
    const { carried, bracket, isName } = this.#open;
    const received = this.#cut.length + chunk.length;
    // A chunk can close no more brackets than it has bytes.
    const loaded = Math.min(this.#depth, received + MAX_CARRIED_BYTES);
    const below = this.#depth - loaded;
    const checker = load([this.#cut, chunk], received, loaded);
    const start = checker.TEXT.value;
    const text = new Uint8Array(checker.memory.buffer, start, received);
    if (this.#checked === 0) blankMark(text);
    const length = isLast ? received : received - countOfCutCharacter(text);
    if (!isUtf8(text.subarray(0, length))) {
      const offset = this.#checked + findInvalidUtf8(text.subarray(0, length));
      return { reason: 'not valid UTF-8', at: offset };
    }
    this.#cut = length === received ? NONE : text.slice(length);
    const memory = new Uint8Array(checker.memory.buffer);
    memory.set(carried, start - carried.length);
    this.#stack.copyTo(memory, checker.bracketsAfter(length), below, loaded);
    const result = checker.resume(length, isLast, carried.length, loaded, bracket, isName);
    if (result === IS_JSON) return null;
    if (result !== IS_OPEN) {
      return { reason: 'not valid JSON', at: this.#checked + checker.invalidAt.value - start };
    }
    this.#checked += length;
    this.#depth = below + checker.depthOfOpen.value;
    if (below + checker.depthOfLast.value > MAX_DEPTH) {
      return { reason: TOO_DEEP, at: this.#checked };
    }
    this.#open = keepOpen(checker);
    const { bracketsOfOpen, depthOfOpen } = checker;
    this.#stack.copyFrom(memory, bracketsOfOpen.value, below, depthOfOpen.value);
    return null;
  }
}

function keepOpen(checker: Checker): OpenText {
  const start = checker.TEXT.value;
  const memory = new Uint8Array(checker.memory.buffer);
  return {
    carried: memory.slice(start - checker.carried.value, start),
    bracket: checker.bracketOfOpen.value,
    isName: checker.isNameOfOpen.value === 1,
  };
}

/** Bytes at the end that begin a character and do not end it. */
function countOfCutCharacter(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let count = 1; count < MAX_CHARACTER_BYTES && count <= length; count += 1) {
    const byte = bytes[length - count] ?? 0;
    if (isContinuation(byte)) continue;
    return count < countOfCharacter(byte) ? count : 0;
  }
  return 0;
}

/** @param first byte of a character */
function countOfCharacter(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : MAX_CHARACTER_BYTES;
}

/** Replaces a byte-order mark with white space, which has no meaning either. */
function blankMark(text: Uint8Array): void {
  if (startsWithMark(text)) text.fill(SPACE, 0, MARK_BYTES);
}

/** Measures bytes that are known to be JSON in UTF-8. */
export function measureJson(json: Uint8Array): JsonMeasures {
  const checker = load([json], json.length);
  blankMark(new Uint8Array(checker.memory.buffer, checker.TEXT.value, json.length));
  checker.check(json.length, true);
  const { depthOfLast, membersOfLast, valuesOfLast } = checker;
  return {
    depth: depthOfLast.value,
    members: membersOfLast.value,
    values: valuesOfLast.value,
  };
}

/** A checker with the text in its memory, and room for brackets that are open before it. */
function load(pieces: readonly Uint8Array[], length: number, openBrackets = 0): Checker {
  const text = reusedChecker.TEXT.value;
  // The text, a stack entry for each of its bytes, and a margin on either side.
  const needed = 2 * (text + length) + openBrackets;
  const checker = needed <= KEPT_BYTES ? reusedChecker : createChecker();
  const { memory } = checker;
  const missing = needed - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
  const copy = new Uint8Array(memory.buffer, text, length);
  let offset = 0;
  for (const piece of pieces) {
    copy.set(piece, offset);
    offset += piece.length;
  }
  return checker;
}
