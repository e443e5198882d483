import { isUtf8 } from 'node:buffer';

export const MAX_CHARACTER_BYTES = 4;
/** The bits of the bytes after the first byte of a character. */
const CONTINUATION = { mask: 0xc0, value: 0x80 } as const;

/** The position of the first character that is not UTF-8; -1 without one. */
export function findInvalidCharacter(bytes: Uint8Array): number {
  return isUtf8(bytes) ? -1 : findInvalidUtf8(bytes);
}

/** The position of invalid UTF-8: the start of the first character that is invalid or truncated. */
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
  let offset = end;
  while (offset > 0 && end - offset < MAX_CHARACTER_BYTES && isContinuation(bytes[offset]))
    offset -= 1;
  return offset;
}

export function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & CONTINUATION.mask) === CONTINUATION.value;
}
