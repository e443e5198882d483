import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';

/** The exports of core/lib/wasm/json-check.ts. */
interface Checker {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Offset of the text in memory. */
  readonly TEXT: { readonly value: number };
  isJson(length: number): number;
  /** After `isJson` returned 0, the address of the first byte that cannot be there. */
  readonly invalidAt: { readonly value: number };
  /** After `isJson` returned 1. */
  readonly depthOfLast: { readonly value: number };
  readonly membersOfLast: { readonly value: number };
}

/** The structure of a JSON text. */
interface JsonMeasures {
  /** How deep arrays and objects are nested. */
  readonly depth: number;
  /** The members of all objects, repeated ones included. */
  readonly members: number;
}

/** The part that is used; only the types of browsers declare the global. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

const PAGE_BYTES = 65_536;
/** Larger memory is released after the check. */
const KEPT_BYTES = 4 * 1024 * 1024;

const module = new WebAssembly.Module(
  readFileSync(new URL('../wasm/json-check.wasm', import.meta.url)),
);
const kept = createChecker();

/** Why and where bytes are not JSON. */
export interface InvalidJson {
  readonly reason: 'not valid UTF-8' | 'not valid JSON';
  /** The first byte that cannot be there, from 0; the length for a text that ends too early. */
  readonly at: number;
}

/**
 * Why the bytes are not JSON in UTF-8 (RFC 8259, as `JSON.parse` decides), or `null`. Builds no value: for rows
 * of a table it needs a fifth of the time of `JSON.parse` and leaves no garbage. Nesting has no limit.
 * @param length bytes of all pieces
 */
export function findInvalidJson(pieces: readonly Uint8Array[], length: number): InvalidJson | null {
  const checker = load(pieces, length);
  const text = checker.TEXT.value;
  const copy = new Uint8Array(checker.memory.buffer, text, length);
  if (!isUtf8(copy)) return { reason: 'not valid UTF-8', at: findInvalidUtf8(copy) };
  if (checker.isJson(length) === 1) return null;
  return { reason: 'not valid JSON', at: checker.invalidAt.value - text };
}

/** Measures bytes that are known to be JSON in UTF-8. */
export function measureJson(json: Uint8Array): JsonMeasures {
  const checker = load([json], json.length);
  checker.isJson(json.length);
  return { depth: checker.depthOfLast.value, members: checker.membersOfLast.value };
}

/** A checker with the text in its memory. */
function load(pieces: readonly Uint8Array[], length: number): Checker {
  const text = kept.TEXT.value;
  // The text, a stack entry for each of its bytes, and a margin on either side.
  const needed = 2 * (text + length);
  const checker = needed <= KEPT_BYTES ? kept : createChecker();
  const { memory } = checker;
  const missing = needed - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE_BYTES));
  const copy = new Uint8Array(memory.buffer, text, length);
  let at = 0;
  for (const piece of pieces) {
    copy.set(piece, at);
    at += piece.length;
  }
  return checker;
}

function createChecker(): Checker {
  return new WebAssembly.Instance(module).exports as Checker;
}

/** The longest character. */
const MAX_CHARACTER_BYTES = 4;
/** The bits of the bytes after the first byte of a character. */
const CONTINUATION = { mask: 0xc0, value: 0x80 } as const;

/** Where bytes that are not UTF-8 go wrong: the start of the first character that is invalid or cut off. */
function findInvalidUtf8(bytes: Uint8Array): number {
  let valid = 0;
  // Half of the rest is checked at a time: `isUtf8` reads many bytes per step.
  for (let size = bytes.length; size >= MAX_CHARACTER_BYTES; size = Math.floor(size / 2)) {
    for (;;) {
      const end = backToCharacter(bytes, Math.min(valid + size, bytes.length));
      if (end <= valid || !isUtf8(bytes.subarray(valid, end))) break;
      valid = end;
    }
  }
  for (let length = 1; valid < bytes.length; length = 1) {
    while (!isUtf8(bytes.subarray(valid, valid + length))) {
      length += 1;
      if (length > MAX_CHARACTER_BYTES || valid + length > bytes.length) return valid;
    }
    valid += length;
  }
  return valid;
}

/** The start of the character at `end`, so that no character is divided. */
function backToCharacter(bytes: Uint8Array, end: number): number {
  if (end === bytes.length) return end;
  let at = end;
  while (at > 0 && end - at < MAX_CHARACTER_BYTES && isContinuation(bytes[at])) at -= 1;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & CONTINUATION.mask) === CONTINUATION.value;
}
