import { expect } from 'chai';
import { array, assert, constantFrom, property, stringMatching } from 'fast-check';
import { createBearerCredentials } from '../../core/auth/caller-credentials.js';
import { createDevAuthenticator } from '../../core/auth/dev-tokens.js';
import type { Actor } from '../../core/contract/index.js';

const dev = createDevAuthenticator();

function authenticate(token: string, scheme = 'bearer'): Actor | null {
  const result = dev.authenticate({ ...createBearerCredentials(token), scheme }) as Actor | null;
  return result !== null && 'rejected' in result ? null : result;
}

describe('dev tokens', () => {
  const ACCEPTED: readonly (readonly [token: string, actor: string, scopes: readonly string[]])[] =
    [
      ['dev-service:billing', 'service:billing', []],
      ['dev-service:billing:crm.read', 'service:billing', ['crm.read']],
      ['dev-service:billing:crm.read,crm.write', 'service:billing', ['crm.read', 'crm.write']],
      ['dev-user:ann@example.com', 'user:ann@example.com', []],
      ['dev-user:ann:console.admin', 'user:ann', ['console.admin']],
      ['dev-system:cron', 'system:cron', []],
      ['dev-service:a:urn:x:y,b:c', 'service:a', ['urn:x:y', 'b:c']],
      ['dev-service:a::', 'service:a', [':']],
      ['dev-service:a:x,x', 'service:a', ['x']],
      [`dev-service:${'i'.repeat(128)}`, `service:${'i'.repeat(128)}`, []],
    ];
  for (const [token, actor, scopes] of ACCEPTED) {
    it(`accepts ${token.slice(0, 60)}`, () => {
      const result = authenticate(token);
      expect(result && `${result.kind}:${result.id}`).to.equal(actor);
      expect([...(result?.scopes ?? [])]).to.deep.equal(scopes);
    });
  }

  const REJECTED: Readonly<Record<string, string>> = {
    nothing: '',
    'no id': 'dev-service:',
    'no colon': 'dev-service',
    'an empty id before scopes': 'dev-service::crm.read',
    'an id of 129 characters': `dev-service:${'i'.repeat(129)}`,
    'an id with a slash': 'dev-service:a/b',
    'an id with a line break': 'dev-service:a\n',
    'an empty scopes part': 'dev-service:a:',
    'an empty scope at the start': 'dev-service:a:,x',
    'an empty scope at the end': 'dev-service:a:x,',
    'an empty scope in the middle': 'dev-service:a:x,,y',
    'a space in a scope': 'dev-service:a:x y',
    'a scope beyond ASCII': 'dev-service:a:é',
    'a line break in a scope': 'dev-service:a:x\n',
    'a system with scopes': 'dev-system:cron:x',
    'a system with an empty scopes part': 'dev-system:cron:',
    'another kind': 'dev-robot:a',
    'a kind in another case': 'dev-Service:a',
    'text before': ' dev-service:a',
    'more than 15 KiB': `dev-service:a:${'x'.repeat(15 * 1024)}`,
  };
  for (const [title, token] of Object.entries(REJECTED)) {
    it(`rejects ${title}`, () => {
      expect(authenticate(token)).to.equal(null);
    });
  }

  it('rejects another scheme than bearer', () => {
    expect(authenticate('dev-system:cron', 'basic')).to.equal(null);
    expect(authenticate('dev-system:cron', '')).to.equal(null);
  });

  it('returns the id and the scopes of a token', () => {
    const id = stringMatching(/^[A-Za-z0-9._@-]{1,40}$/);
    const scopes = array(stringMatching(/^[!-+\--~]{1,20}$/), { minLength: 1, maxLength: 8 });
    assert(
      property(constantFrom('service', 'user'), id, scopes, (kind, name, list) => {
        const result = authenticate(`dev-${kind}:${name}:${list.join(',')}`);
        expect(result).to.deep.equal({ kind, id: name, scopes: new Set(list) });
      }),
    );
  });
});
