import { isUtf8 } from 'node:buffer';

/** The longest character. */
const MAX_CHARACTER_BYTES = 4;
/** Of the bytes after the first one of a character. */
const CONTINUATION = { mask: 0xc0, value: 0x80 } as const;

/** Where bytes that are not UTF-8 go wrong: the start of the first character that is invalid or cut off. */
export function findInvalidUtf8(bytes: Uint8Array): number {
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
