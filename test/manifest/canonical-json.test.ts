import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { canonicalizeValue } from '../../core/contract/canonical-value.js';
import { manifestDigest } from '../../core/manifest/parse-manifest.js';
import { hashAuditRow } from '../../core/store/audit-row.js';
import { readOutside } from '../support/outside.js';

interface Suite {
  /** Base64, and hex. */
  readonly files: Readonly<
    Record<string, { readonly input: string; readonly output: string; readonly hex: string }>
  >;
  /** The bits of doubles, in hex. */
  readonly staticU64s: readonly string[];
  readonly samples: readonly (readonly [bits: string, text: string])[];
  /** The digests of the first lines `bits,text` of all numbers, by their count. */
  readonly sha256: Readonly<Record<string, string>>;
}

const SUITE = readOutside<Suite>('json-canonicalization.json.gz');

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

function readDouble(bits: string): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(`0x${bits}`));
  return bytes.readDoubleBE();
}

describe('the suite of canonical JSON (RFC 8785)', () => {
  if (SUITE === null) {
    it('is not run: its data was not found');
    return;
  }

  for (const [name, { input, output, hex }] of Object.entries(SUITE.files)) {
    it(`gives the digest of ${name}, and its hash in the audit`, () => {
      const value: unknown = JSON.parse(Buffer.from(input, 'base64').toString());
      const canonical = Buffer.from(output, 'base64');
      expect(canonical.toString('hex')).to.equal(hex);
      expect(canonicalizeValue(value)).to.equal(canonical.toString());
      expect(manifestDigest(value)).to.equal(`sha256:${sha256(canonical)}`);
      expect(hashAuditRow(value as never)).to.equal(sha256(canonical));
    });
  }

  for (const [bits, text] of SUITE.samples) {
    it(`writes the double ${bits} as ${text}`, () => {
      expect(canonicalizeValue(readDouble(bits))).to.equal(text);
      expect(manifestDigest([readDouble(bits)])).to.equal(`sha256:${sha256(`[${text}]`)}`);
    });
  }

  for (const [count, digest] of Object.entries(SUITE.sha256)) {
    it(`writes the first ${count} numbers as they are listed`, () => {
      const serial = Array.from({ length: 2000 }, (_, index) =>
        (0x0010_0000_0000_0000n + BigInt(index)).toString(16),
      );
      const bits = [...SUITE.staticU64s, ...serial].slice(0, Number(count));
      const lines = bits.map(
        (bits) => `${BigInt(`0x${bits}`).toString(16)},${canonicalizeValue(readDouble(bits))}\n`,
      );
      expect(sha256(lines.join(''))).to.equal(digest);
    });
  }
});
