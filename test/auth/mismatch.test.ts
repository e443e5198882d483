import { expect } from 'chai';
import { assertClaims } from '../../core/auth/check-claims.js';
import { findNear } from '../../core/auth/mismatch.js';
import type { RejectedToken } from '../../core/auth/rejected-token.js';

const NAME = 'https://login.example/realms/Acme';

describe('a name that a token nearly has', () => {
  for (const near of [
    `${NAME}/`,
    NAME.replace('https', 'http'),
    NAME.replace('.example', '.example:443'),
    NAME.replace('Acme', 'acme'),
    ['account', `${NAME}/`],
  ]) {
    it(`is found for ${near}`, () => {
      expect(findNear(near, ['x', NAME])).to.equal(NAME);
    });
  }

  for (const other of [`${NAME}//`, `${NAME}2`, NAME.replace('.example', '.example:8443'), null]) {
    it(`is none for ${other}`, () => {
      expect(findNear(other, ['x', NAME])).to.equal(undefined);
    });
  }

  it('is named to operators, of an issuer and of an audience', () => {
    const rejectionOf = (claims: object): RejectedToken => {
      const rules = { issuer: NAME, audience: ['api', 'https://api.example'], skewSeconds: 0 };
      try {
        const given = { iss: NAME, aud: 'api', ...claims };
        assertClaims(given, { ...rules, audienceClaim: 'aud', required: [] });
      } catch (error) {
        return error as RejectedToken;
      }
      throw new Error('the claims are accepted');
    };
    expect(rejectionOf({ iss: `${NAME}/` })).to.include({ reason: 'issuer', isSuspicious: true });
    const audience = rejectionOf({ aud: ['x', 'https://api.example/'] });
    expect(audience).to.include({ reason: 'audience', isSuspicious: true });
    expect(audience.message).to.include("'https://api.example'");
    expect(rejectionOf({ aud: 'other' })).to.include({ reason: 'audience', isSuspicious: false });
  });
});
