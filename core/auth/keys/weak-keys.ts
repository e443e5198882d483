import type { JWK } from 'jose';

const MIN_MODULUS_BITS = 2048;
const MIN_EXPONENT = 3n;

/**
 * The small primes of the ROCA fingerprint (CVE-2017-15361): modulo each of them, a modulus made by the
 * faulty library is a power of 65537. A random modulus passes for one with a probability of 2^-27.
 */
const ROCA_PRIMES = [
  3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101,
  103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167,
];
const ROCA_GENERATOR = 65_537;

/** The weakness of a public key; `null` if none is known. */
export function findKeyWeakness({ kty, n, e }: JWK): string | null {
  if (kty !== 'RSA') return null;
  const modulus = readInteger(n);
  const exponent = readInteger(e);
  if (exponent < MIN_EXPONENT || exponent % 2n === 0n) {
    return 'its RSA exponent must be odd and at least 3';
  }
  if (modulus.toString(2).length < MIN_MODULUS_BITS) {
    return `its RSA modulus must have at least ${MIN_MODULUS_BITS} bits`;
  }
  return hasRocaFingerprint(modulus) ? 'its RSA modulus has the ROCA weakness' : null;
}

/** 0 if the text is not an integer in base64url. */
function readInteger(text: unknown): bigint {
  const hex = typeof text === 'string' ? Buffer.from(text, 'base64url').toString('hex') : '';
  return BigInt(`0x0${hex}`);
}

function hasRocaFingerprint(modulus: bigint): boolean {
  return ROCA_PRIMES.every((prime) => listPowers(prime).has(Number(modulus % BigInt(prime))));
}

/** The powers of the generator modulo a prime. */
function listPowers(prime: number): ReadonlySet<number> {
  const powers = new Set<number>();
  for (let power = 1; !powers.has(power); power = (power * ROCA_GENERATOR) % prime) {
    powers.add(power);
  }
  return powers;
}
