import { createHash } from 'node:crypto';

const SLAB_BYTES = 1024 * 1024;
/** What a UTF-16 code unit takes at most in UTF-8. */
const BYTES_PER_UNIT = 3;

/** Text that is appended piece by piece, as UTF-8 in a few large buffers: thousands of small ones are slow to collect. */
export class TextBytes {
  readonly #full: Buffer[] = [];
  readonly #hash = createHash('sha256');
  #slab = Buffer.allocUnsafe(0);
  #used = 0;

  append(text: string): void {
    const needed = text.length * BYTES_PER_UNIT;
    if (this.#slab.length - this.#used < needed) this.#open(Math.max(SLAB_BYTES, needed));
    this.#used += this.#slab.write(text, this.#used);
  }

  /** What has been appended, and its digest. No more may be appended. */
  end(): { readonly pieces: readonly Buffer[]; readonly digest: Buffer } {
    this.#open(0);
    return { pieces: this.#full, digest: this.#hash.digest() };
  }

  #open(size: number): void {
    const full = this.#slab.subarray(0, this.#used);
    this.#hash.update(full);
    this.#full.push(full);
    this.#slab = Buffer.allocUnsafe(size);
    this.#used = 0;
  }
}
