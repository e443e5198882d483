import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { authenticateWith } from '../../core/auth/authenticate.js';
import { createBearerCredentials } from '../../core/auth/caller-credentials.js';
import { createCheckedAuthenticator } from '../../core/auth/checked-authenticator.js';
import { openIssuersAuthenticators } from '../../core/auth/issuers.js';
import { Roles } from '../../core/auth/roles.js';
import type { Authenticator } from '../../core/contract/index.js';
import type { ErrorOwner } from '../../core/isolation/error-owner.js';
import { silent } from '../store/backend.js';
import { HOUR, SILENT_ISSUER, TARGET, useSignedTokens } from '../support/auth/use-signed-tokens.js';
import { createClaims, createSigningKey, ISSUER, signToken } from '../support/fake-issuer.js';
import { call, parseJson } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const encode = (text: string) => Buffer.from(text).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);

type Kept = Readonly<Record<string, unknown>>;

/** The title, the credentials, and what the log line has. */
type Cause = [string, () => Promise<readonly string[]>, Kept];

describe('the reason of an authenticator', () => {
  const credentials = createBearerCredentials('x');
  const checked = (result: unknown, owner: ErrorOwner | null = null) => {
    const authenticator = { name: 'own', authenticate: () => result } as unknown as Authenticator;
    return createCheckedAuthenticator(authenticator, silent, Roles.none(silent), owner);
  };
  const plugin: ErrorOwner = { report: () => {} };
  const presented = new Set(['authorization']);

  it('is one of the list, without a token where the authenticator is a plugin', () => {
    const rejected = { rejected: 'claim', token: 'x', detail: 'aud' };
    expect(checked(rejected).authenticate(credentials)).to.deep.equal(rejected);
    const ofPlugin = checked(rejected, plugin).authenticate(credentials);
    expect(ofPlugin).to.deep.equal({ rejected: 'claim', token: null, detail: null });
    const wrong = checked({ rejected: 'whim' }, plugin);
    expect(() => wrong.authenticate(credentials)).to.throw('unknown reason');
  });

  it('is that of the authenticator that came furthest', async () => {
    const chain = ['unknown', 'expired', 'signature'].map((rejected) => checked({ rejected }));
    const late = checked(Promise.resolve({ rejected: 'audience' }));
    const result = await authenticateWith([late, ...chain, checked(null)], credentials, presented);
    expect(result).to.deep.equal({ rejected: 'expired', token: null, detail: null });
  });
});

describe('the reason of a 401', () => {
  const setup = useSignedTokens();
  let number = 0;

  /** Sends the credentials; returns the log line and the Problem. */
  const send = async (authorization: readonly string[]) => {
    number += 1;
    const id = `reason-${number}`;
    const headers = authorization.map((value) => ['authorization', value] as [string, string]);
    const response = await call(setup.host, {
      target: TARGET,
      as: null,
      headers: [...headers, ['x-request-id', id]],
    });
    const find = (): Kept | undefined =>
      setup.host.logs().find((line) => line['request_id'] === id && line['msg'] === 'request');
    await waitUntil('the line', () => find() !== undefined);
    return { line: find() ?? {}, problem: parseJson(response) };
  };
  const bearer = async (token: string | Promise<string>) => [`Bearer ${await token}`];
  const sign = (claims: object) => bearer(signToken(setup.key, claims));

  /** Without a valid signature: the header is checked first. */
  const withHeader = (header: object, claims = {}) =>
    [{ alg: 'RS256', kid: 'first', ...header }, createClaims(claims), 'AA']
      .map((part) => (part === 'AA' ? part : encode(JSON.stringify(part))))
      .join('.');

  it('is none for a token with the groups of a large company', async () => {
    const groups = Array.from({ length: 200 }, (_, number) => `${number}`.padStart(36, '0'));
    const [credentials = ''] = await sign({ groups });
    expect(credentials.length).to.be.within(10_000, 11_000);
    const { line } = await send([credentials]);
    expect(line).to.include({ status: 200 }).and.not.have.property('reason');
  });

  it('names the issuer to which a token is near, and no other', async () => {
    const near = { iss: `${SILENT_ISSUER}/` };
    expect((await send(await sign(near))).line).to.include({ reason: 'issuer' });
    await send(await sign({ iss: `${SILENT_ISSUER}.evil` }));
    const warned = setup.host.logs().filter(({ reason }) => `${reason}`.includes('final slash'));
    expect(warned.map(({ issuer, level }) => [issuer, level])).to.deep.equal([
      [SILENT_ISSUER, 'warn'],
    ]);
  });

  const CAUSES: readonly Cause[] = [
    ['missing credentials', async () => [], { reason: 'missing' }],
    ['two headers', async () => ['Bearer a', 'Bearer b'], { reason: 'malformed' }],
    ['an empty token', async () => ['Bearer '], { reason: 'malformed' }],
    ['a scheme that nobody has', async () => ['Negotiate abc'], { reason: 'malformed' }],
    ['a token with a blank', async () => ['Bearer two words'], { reason: 'malformed' }],
    ['a token with a tab', async () => ['bearer two\twords'], { reason: 'malformed' }],
    ['a token of more than 15 KiB', () => bearer('x'.repeat(15_361)), { reason: 'too_long' }],
    [
      'a signed token of more than 15 KiB',
      () => sign({ groups: ['x'.repeat(11_300)] }),
      { reason: 'too_long' },
    ],
    ['a random token', () => bearer('random'), { reason: 'unknown' }],
    [
      'an expired token',
      () => sign({ iat: now() - HOUR / 2, exp: now() - HOUR / 4 }),
      { reason: 'expired', token: 'first' },
    ],
    [
      'a token of the future',
      () => sign({ nbf: now() + HOUR / 2 }),
      { reason: 'not_yet_valid', token: 'first' },
    ],
    ...(
      [
        ['crit', ['exp']],
        ['b64', false],
        ['cty', 'JWT'],
        ['zip', 'DEF'],
        ['enc', 'A256GCM'],
        ['typ', 'logout+jwt'],
        ['kid', 'k'.repeat(257)],
      ] as const
    ).map(
      ([name, value]): Cause => [
        `the header ${name}`,
        () => bearer(withHeader({ [name]: value })),
        { reason: 'header', reason_detail: name },
      ],
    ),
    [
      'the header crit of an issuer that is not configured',
      () => bearer(withHeader({ crit: ['exp'] }, { iss: 'https://nobody.example' })),
      { reason: 'issuer' },
    ],
    ...['aud', 'exp', 'iat', 'sub'].map(
      (claim): Cause => [
        `no claim ${claim}`,
        () => sign({ [claim]: undefined }),
        { reason: 'claim', reason_detail: claim, token: 'first' },
      ],
    ),
    [
      'an expiry that is a text',
      () => sign({ exp: '2099-01-01' }),
      { reason: 'claim', reason_detail: 'exp', token: 'first' },
    ],
    [
      'a scope with a comma',
      () => sign({ scope: 'a,b' }),
      { reason: 'claim', reason_detail: 'scope', token: 'first' },
    ],
    ['no issuer where there are several', () => sign({ iss: undefined }), { reason: 'unknown' }],
    ['another audience', () => sign({ aud: 'other' }), { reason: 'audience', token: 'first' }],
    ['another issuer', () => sign({ iss: 'https://nobody.example' }), { reason: 'issuer' }],
    [
      'a wrong signature',
      () => bearer(signToken(setup.stranger)),
      { reason: 'signature', token: 'first' },
    ],
    [
      'an issuer that does not answer',
      () => sign({ iss: SILENT_ISSUER }),
      { status: 503, reason: 'unavailable' },
    ],
  ];

  for (const [title, create, expected] of CAUSES) {
    it(`is known for ${title}, and only to operators`, async () => {
      const { line, problem } = await send(await create());
      expect(line).to.include({ status: 401, step: 'actor', module_named: 'crm', ...expected });
      for (const name of ['token', 'reason_detail']) {
        if (expected[name] === undefined) expect(line).to.not.have.property(name);
      }
      expect(problem).to.not.have.any.keys('reason', 'reason_detail', 'token', 'step');
      const sent = JSON.stringify({ ...problem, errors: [], next_actions: [] });
      const isTold = line['reason'] === 'missing' || line['status'] === 503;
      if (!isTold) expect(sent).to.not.include(String(line['reason']));
    });
  }

  it('is in the record and in the output of explain', async () => {
    const { line } = await send(await sign({ aud: undefined }));
    const as = await signToken(setup.key, { client: { type: 'root' }, scope: '' });
    const target = `/explain?request_id=${line['request_id']}&now=true`;
    const answer = parseJson(await call(setup.host, { target, as }));
    expect(answer).to.have.nested.property('calls[0].reason_detail', 'aud');
    const texts = JSON.stringify(answer);
    expect(texts).to.include('(claim: aud)').and.include('have the issuer send the claim aud');
  });
});

describe('a token without an issuer', () => {
  it('is named where the file has one issuer', async () => {
    const folder = createFolder();
    const key = await createSigningKey('first');
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [key.jwk] }));
    const entry = { issuer: ISSUER, audience: 'modgate', algorithms: ['RS256'] };
    const issuers = [{ ...entry, jwks: { file: 'keys.json' }, actor: { kind: 'service' } }];
    writeFileSync(join(folder, 'issuers.json'), JSON.stringify({ issuers }));
    const options = { log: silent, environment: {} };
    const opened = await openIssuersAuthenticators(join(folder, 'issuers.json'), options);
    const token = await signToken(key, { iss: undefined });
    const result = await opened.chain[0]?.authenticate(createBearerCredentials(token));
    expect(result).to.deep.equal({ rejected: 'claim', token: null, detail: 'iss' });
    await opened.close();
  });
});
