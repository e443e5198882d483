import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLocalJWKSet } from 'jose';
import { openIssuerKeys } from '../../core/auth/keys/issuer-keys.js';
import { verifySignature } from '../../core/auth/keys/verify-signature.js';
import { createRecordedLog } from '../support/auth/recorded-log.js';
import { createSigningKey, ISSUER, type SigningKey, signToken } from '../support/fake-issuer.js';
import { createFolder } from '../support/temporary-folder.js';

describe('the signature of a token', () => {
  const keys = new Map<string, readonly SigningKey[]>();

  before(async () => {
    for (const algorithm of ['ES256', 'ES512']) {
      const created = Array.from({ length: 5 }, () => createSigningKey('same', algorithm));
      keys.set(algorithm, await Promise.all(created));
    }
  });

  /** The numbers of the keys of a set whose tokens are accepted. */
  const listAccepted = async (algorithm: string, kids: (string | undefined)[], named: boolean) => {
    const signing = keys.get(algorithm) ?? [];
    const set = signing.map(({ jwk }, index) => ({ ...jwk, kid: kids[index] }));
    const local = createLocalJWKSet({ keys: JSON.parse(JSON.stringify(set)) });
    const accepted: number[] = [];
    for (const [index, key] of signing.entries()) {
      const token = await signToken(key, {}, named ? {} : { kid: undefined as never });
      const verified = verifySignature(token, local, [algorithm]);
      await verified.then(
        () => accepted.push(index + 1),
        () => {},
      );
    }
    return accepted;
  };
  const SAME = Array.from({ length: 5 }, () => 'same');
  const NONE = Array.from({ length: 5 }, () => undefined);

  for (const [algorithm, expected] of [
    ['ES256', [1, 2, 3, 4]],
    ['ES512', [1, 2, 3]],
  ] as const) {
    it(`is verified with the first ${expected.length} keys of one id for ${algorithm}`, async () => {
      expect(await listAccepted(algorithm, SAME, true)).to.deep.equal(expected);
    });

    it(`is verified with the first ${expected.length} keys where the token names none for ${algorithm}`, async () => {
      expect(await listAccepted(algorithm, NONE, false)).to.deep.equal(expected);
      expect(await listAccepted(algorithm, ['a', 'b', 'c', 'd', 'e'], false)).to.deep.equal(
        expected,
      );
    });
  }

  it('is verified under both names of the algorithm of an Ed25519 key', async () => {
    const folder = createFolder();
    const key = await createSigningKey('edwards', 'EdDSA');
    for (const alg of ['EdDSA', 'Ed25519', undefined]) {
      writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [{ ...key.jwk, alg }] }));
      const context = { baseDir: folder, log: createRecordedLog().log, isOffline: true };
      const opened = await openIssuerKeys(ISSUER, { file: 'keys.json' } as never, context);
      for (const named of ['EdDSA', 'Ed25519']) {
        const token = await signToken(key, {}, { alg: named });
        await opened.verify(token, ['EdDSA', 'Ed25519']);
        const other = await opened.verify(token, ['RS256']).catch((error: Error) => error);
        expect(other).to.be.instanceOf(Error);
      }
      await opened.close();
    }
  });

  it('is verified with the key that the token names, at any place in the set', async () => {
    const kids = ['a', 'b', 'c', 'd', 'same'];
    expect(await listAccepted('ES256', kids, true)).to.deep.equal([5]);
  });
});
