import { expect } from 'chai';
import { createAuthenticators } from '../../core/auth/authenticators.js';
import {
  assertBasicUsable,
  listChallenges,
  listCredentialHeaders,
} from '../../core/auth/credential-headers.js';
import { readConfig } from '../../core/config/read-config.js';
import { SETTING_NAMES } from '../../core/config/settings.js';
import type { Authenticator } from '../../core/contract/index.js';
import { ConfigError } from '../../core/errors.js';
import { readDeclaration } from '../../core/lib/authenticator-declaration.js';
import { createFakeLog } from '../../core/testkit/index.js';

const declare = (overrides: object) =>
  readDeclaration({ name: 'a', authenticate: () => null, ...overrides } as Authenticator);

describe('the declaration of an authenticator', () => {
  it('has defaults', () => {
    expect(declare({})).to.deep.equal({ reads: ['authorization'], challenges: ['Bearer'] });
  });

  it('keeps what is given, once', () => {
    const declaration = {
      reads: ['x-key', 'cookie', 'x-key'],
      challenges: ['Basic realm="a, b"', 'Key'],
    };
    expect(declare(declaration)).to.deep.equal({ ...declaration, reads: ['x-key', 'cookie'] });
  });

  const REJECTED: readonly (readonly [subject: object, message: string])[] = [
    [{ reads: [] }, "'reads' must be a list of 1 to 16 entries"],
    [{ reads: 'x-key' }, "'reads' must be a list of 1 to 16 entries"],
    [
      { reads: Array.from({ length: 17 }, (_, i) => `x-${i}`) },
      "'reads' must be a list of 1 to 16",
    ],
    [{ reads: ['X-Key'] }, "'reads[0]' must be the name of a header in lower case"],
    [{ reads: ['x-key', 'x key'] }, "'reads[1]' must be the name of a header in lower case"],
    [{ reads: ['*'] }, "'reads[0]' must be the name of a header in lower case"],
    [{ reads: [1] }, "'reads[0]' must be text"],
    [{ challenges: [] }, "'challenges' must be a list of 1 to 8 entries"],
    [{ challenges: ['Basic\r\nx: y'] }, "'challenges[0]' must be a challenge such as Bearer"],
    [{ challenges: [''] }, "'challenges[0]' must be a challenge such as Bearer"],
    [{ challenges: ['Basic realm="\u00fc"'] }, "'challenges[0]' must be a challenge"],
  ];
  for (const [subject, message] of REJECTED) {
    it(`rejects ${JSON.stringify(subject).slice(0, 60)}`, () => {
      expect(() => declare(subject)).to.throw(message);
    });
  }

  const RESERVED = ['content-type', 'host', 'connection', 'x-request-id', 'idempotency-key'];
  for (const name of [...RESERVED, 'modgate-actor', 'modgate_actor', 'origin', 'sec-fetch-site']) {
    it(`rejects the header ${name}, which has another meaning`, () => {
      expect(() => declare({ reads: [name] })).to.throw(
        "'reads[0]' must not be a header with another meaning for the host",
      );
    });
  }
});

describe('the headers and challenges of a chain', () => {
  it('are those of all authenticators, each once', () => {
    const chain = [
      { reads: ['authorization', 'x-key'], challenges: ['Bearer'] },
      { reads: ['authorization', 'cookie'], challenges: ['Session', 'Bearer'] },
    ];
    expect(listCredentialHeaders(chain)).to.deep.equal(['authorization', 'x-key', 'cookie']);
    expect(listChallenges(chain, false)).to.deep.equal(['Bearer', 'Session']);
  });

  it('are never empty', () => {
    expect(listCredentialHeaders([])).to.deep.equal(['authorization']);
    expect(listChallenges([], false)).to.deep.equal(['Bearer']);
  });

  it('include passwords only where an authenticator takes tokens and none takes passwords', () => {
    const tokens = { reads: ['authorization'], challenges: ['Bearer'] };
    expect(listChallenges([tokens], true)).to.deep.equal(['Basic realm="modgate"', 'Bearer']);
    expect(() => assertBasicUsable([tokens])).not.to.throw();
    const staff = { reads: ['authorization'], challenges: ['BASIC realm="staff"'] };
    expect(() => assertBasicUsable([tokens, staff])).to.throw(ConfigError, 'takes too');
    const keys = { reads: ['x-key'], challenges: ['ApiKey'] };
    expect(() => assertBasicUsable([keys])).to.throw(ConfigError, '--tokens FILE');
  });

  it('include the token header only with a tokens file', async () => {
    const flags = { tokenHeader: 'x-api-key', env: 'development' };
    const { config } = await readConfig(SETTING_NAMES, { flags, environment: {} });
    const error = await createAuthenticators(config, createFakeLog()).then(
      () => null,
      (reason: Error) => reason.message,
    );
    expect(error).to.include('--token-header requires a tokens file');
  });
});
