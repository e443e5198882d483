import { hash } from 'node:crypto';

const HASHES = 2 ** 32;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a (Fowler, Noll, Vo) over the code units, 32 bits. Not collision-resistant. */
export function hashText(text: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  return hash;
}

/** Mixes two hashes with the finalizer of MurmurHash3 to a number between 0 and 1, both exclusive. */
export function mixHashes(first: number, other: number): number {
  let hash = first ^ other;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) + 0.5) / HASHES;
}

/** The digest of a text in the format `sha256:` and the output of `sha256sum`. */
export function digestText(text: string): string {
  return `sha256:${hash('sha256', text)}`;
}
