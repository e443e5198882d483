import { type CompactVerifyGetKey, compactVerify, errors, type LocalJWKSet } from 'jose';

/** An attacker chooses how many keys a token is verified with. */
const MAX_KEYS_TRIED = 4;
/** Verifying with P-521 takes several times as long. */
const MAX_P521_KEYS_TRIED = 3;

/** Verifies a token with each key of a set that its header allows, in the order of the set. */
export async function verifySignature(
  token: string,
  keys: LocalJWKSet,
  algorithms: readonly string[],
): Promise<void> {
  const options = { algorithms: [...algorithms] };
  let algorithm = '';
  const findKey: CompactVerifyGetKey = (header, input) => {
    algorithm = header.alg;
    return keys(header, input);
  };
  try {
    await compactVerify(token, findKey, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    const max = algorithm === 'ES512' ? MAX_P521_KEYS_TRIED : MAX_KEYS_TRIED;
    let tried = 0;
    for await (const key of error) {
      try {
        await compactVerify(token, key, options);
        return;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
      tried += 1;
      if (tried === max) break;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
