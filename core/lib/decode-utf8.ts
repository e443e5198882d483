import { isUtf8 } from 'node:buffer';

/** Keeps a byte-order mark; returns `null` for invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

const NEW_LINE = 0x0a;

/** Returns the number from 1 of the first line that is not UTF-8; 0 for none. */
export function findInvalidLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const next = bytes.indexOf(NEW_LINE, start);
    const end = next === -1 ? bytes.length : next;
    if (end > start && !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
  return 0;
}

/** Whether the bytes start with the byte-order mark of UTF-16, which some editors write. */
export function isUtf16([first, second]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}
