import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import type { JWK } from 'jose';
import { findKeyWeakness } from '../../core/auth/keys/weak-keys.js';
import { readOutside } from '../support/outside.js';

interface KeyCase {
  readonly comment: string;
  readonly private: { readonly keys: readonly JWK[] };
}

const WEAK_IN_SUITE: readonly (readonly [comment: string, weakness: RegExp])[] = [
  ['jws_rsa_roca_key', /ROCA/],
  ['keysize_too_small', /2048 bits/],
  ['exponentOne', /at least 3/],
  // Says RSA and has the members of an elliptic curve, so there is no exponent.
  ['wrong_kty', /at least 3/],
];

const createRsaKey = (modulusLength = 2048) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'jwk' }) as JWK;

const encode = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');

/** An integer of 2048 bits that is a power of 65537 modulo every small odd prime. */
function createRocaModulus(): string {
  let product = 2n;
  for (let odd = 3n; odd <= 167n; odd += 2n) {
    let isPrime = true;
    for (let divisor = 3n; divisor * divisor <= odd; divisor += 2n) {
      if (odd % divisor === 0n) isPrime = false;
    }
    if (isPrime) product *= odd;
  }
  const power = 65_537n ** 5n;
  const modulus = (power % product) + product * (2n ** 2047n / product + 1n);
  return encode(modulus.toString(16));
}

describe('weakness of a public key', () => {
  const strong = createRsaKey();

  it('is not found in strong keys', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const curve = publicKey.export({ format: 'jwk' }) as JWK;
    expect(findKeyWeakness(strong)).to.equal(null);
    expect(findKeyWeakness({ ...strong, e: 'Aw' }), 'exponent 3').to.equal(null);
    expect(findKeyWeakness(curve)).to.equal(null);
  });

  for (const [title, change, weakness] of [
    ['exponent 1', { e: 'AQ' }, /at least 3/],
    ['an even exponent', { e: 'AQAA' }, /odd/],
    ['no exponent', { e: undefined }, /at least 3/],
    ['a modulus of 1024 bits', createRsaKey(1024), /2048 bits/],
    ['a short modulus behind leading zeros', { n: encode(`${'00'.repeat(256)}ff`) }, /2048 bits/],
    ['the ROCA fingerprint', { n: createRocaModulus() }, /ROCA/],
  ] as [string, Partial<JWK>, RegExp][]) {
    it(`is found with ${title}`, () => {
      expect(findKeyWeakness({ ...strong, ...change } as JWK)).to.match(weakness);
    });
  }

  describe('of the Wycheproof suite', () => {
    const cases = readOutside<{ readonly jwk: readonly KeyCase[] }>('wycheproof.json.gz');
    if (cases === null) it('is not run: its data was not found');

    for (const [index, { comment, private: set }] of (cases?.jwk ?? []).entries()) {
      const expected = WEAK_IN_SUITE.find(([name]) => name === comment)?.[1];
      it(`is ${expected === undefined ? 'not ' : ''}found in key set ${index + 1} (${comment})`, () => {
        const weaknesses = set.keys.map(findKeyWeakness).filter((weakness) => weakness !== null);
        if (expected === undefined) expect(weaknesses).to.deep.equal([]);
        else expect(weaknesses.join()).to.match(expected);
      });
    }
  });
});
