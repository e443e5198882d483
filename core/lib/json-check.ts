import { readFileSync } from 'node:fs';

/** What core/wasm/json-check.ts exports. */
interface Checker {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  /** Where in memory the text begins. */
  readonly TEXT: { readonly value: number };
  isJson(length: number): number;
}

/** What is used of the global of that name, which is in the types of browsers alone. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

const PAGE_BYTES = 65_536;
/** Memory that has grown beyond this is given back after the check. */
const KEPT_BYTES = 4 * 1024 * 1024;

const module = new WebAssembly.Module(
  readFileSync(new URL('../wasm/json-check.wasm', import.meta.url)),
);
const kept = createChecker();

/**
 * Whether bytes that are known to be UTF-8 are JSON (RFC 8259): what `JSON.parse` accepts, and no more.
 * Nothing is made of them, which for rows of a table takes a fifth of the time of `JSON.parse` and leaves no
 * garbage. Nesting has no limit.
 */
export function isJson(bytes: Uint8Array): boolean {
  const checker = neededBytes(kept, bytes) <= KEPT_BYTES ? kept : createChecker();
  const text = checker.TEXT.value;
  const missing = neededBytes(checker, bytes) - checker.memory.buffer.byteLength;
  if (missing > 0) checker.memory.grow(Math.ceil(missing / PAGE_BYTES));
  new Uint8Array(checker.memory.buffer).set(bytes, text);
  return checker.isJson(bytes.length) === 1;
}

/** The text, a bracket open for each of its bytes, and a step on either side. */
function neededBytes({ TEXT }: Checker, bytes: Uint8Array): number {
  return 2 * (TEXT.value + bytes.length);
}

function createChecker(): Checker {
  return new WebAssembly.Instance(module).exports as Checker;
}
