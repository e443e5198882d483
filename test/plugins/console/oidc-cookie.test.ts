import { expect } from 'chai';
import { OidcCookies } from '../../../plugins/console/sign-in/oidc-cookie.js';
import { createFakeContext } from '../../support/console/fake-context.js';

const PENDING = {
  issuer: 'https://login.example',
  state: 'the state',
  nonce: 'the nonce',
  verifier: 'the verifier',
  callback: '/console/api/oidc/callback',
  page: '/console/calls',
};

describe('the cookie of a sign-in at an issuer', () => {
  const { records, stored } = createNow();
  const cookies = new OidcCookies(records);

  it('is unchanged after a restart, also in another process', async () => {
    const cookie = await cookies.encrypt(PENDING);
    expect(await cookies.decrypt(cookie, PENDING.state)).to.deep.include(PENDING);
    expect(await new OidcCookies(records).decrypt(cookie, PENDING.state)).to.deep.include(PENDING);
    expect(cookie).to.match(/^[\w.-]+$/);
  });

  it('leaves nothing of the sign-in in the store', async () => {
    await cookies.encrypt(PENDING);
    const text = JSON.stringify([...stored]);
    for (const secret of [PENDING.state, PENDING.nonce, PENDING.verifier]) {
      expect(text).to.not.contain(secret);
    }
  });

  it('does not count when it was changed, has expired, or is of another host', async () => {
    const cookie = await cookies.encrypt(PENDING);
    const [day = '', expiry = '', encrypted = ''] = cookie.split('.');
    const later = String(Number(expiry) + 1);
    const changed = (encrypted.startsWith('A') ? 'B' : 'A') + encrypted.slice(1);
    const bad = [
      ...[`${day}.${expiry}.${changed}`, `${day}.${later}.${encrypted}`, `${day}.${expiry}.`],
      ...[`${day}.1.${encrypted}`, `1.${expiry}.${encrypted}`, `${cookie}.x`, '', 'a.b.c'],
    ];
    for (const cookie of bad) {
      expect(await cookies.decrypt(cookie, PENDING.state), cookie).to.equal(null);
    }
    expect(await cookies.decrypt(cookie, 'another state')).to.equal(null);
    expect(await new OidcCookies(createNow().records).decrypt(cookie, PENDING.state)).to.equal(
      null,
    );
  });
});

/** Keys expire by the clock of the machine. */
function createNow() {
  const context = createFakeContext();
  context.now = Date.now();
  return context;
}
