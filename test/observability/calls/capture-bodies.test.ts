import { expect } from 'chai';
import { Secret } from '../../../core/contract/index.js';
import { captureBodies } from '../../../core/observability/calls/capture-bodies.js';
import { createMask } from '../../../core/provider/mask-failure.js';

const CANARY = 'canary-7f3';
/** Holds characters that JSON escapes. */
const CREDENTIAL = 'the "crux"';
const KIB = 1024;
const JWT = `eyJhbGciOiJub25lIn0.${Buffer.from(CANARY).toString('base64url')}.x`;

/** The captured text of a body, as the request and as the response. */
function capture(body: string | Uint8Array | null, captureBytes = 64 * KIB): string | null {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const { request, response } = captureBodies({
    captureBytes,
    mask: createMask([new Secret(CREDENTIAL)]),
    request: bytes,
    response: bytes,
  });
  expect(request).to.equal(response);
  return request;
}

/** JSON with the value nested in arrays and objects. */
function nest(value: unknown, levels: number): unknown {
  let nested = value;
  for (let level = 0; level < levels; level += 1) nested = level % 2 ? [nested] : { a: nested };
  return nested;
}

describe('captured bodies', () => {
  const NAMES = [
    ...['password', 'Passwd', 'user_password', 'passphrase', 'passcode', 'secret', 'clientSecret'],
    ...['token', 'accessToken', 'refresh-token', 'id_token', 'csrf_token', 'api_key', 'X-Api-Key'],
    ...['apikey', 'private_key', 'privateKey', 'credentials', 'authorization', 'auth', 'cookie'],
    ...['set-cookie', 'session', 'sessionId', 'signature', 'pin', 'otp', 'cvv', 'cvc'],
    ...['user_pin', 'cardPin', 'OTP', 'db-pwd', 'jwt', 'sid', 'bearer'],
    ...['pass\\u0077ord', '\\u0074oken'],
  ];
  for (const name of NAMES) {
    it(`do not contain the value of '${name}' at any place`, () => {
      for (const value of [
        JSON.stringify(CANARY),
        `["${CANARY}"]`,
        `{"a":{"b":"${CANARY}"}}`,
        '4711',
      ]) {
        for (const levels of [0, 1, 2, 30, 63, 64, 65, 500]) {
          const member = JSON.parse(`{"${name}":${value},"kept":1}`) as object;
          const text = JSON.stringify(nest(member, levels)) ?? '';
          const captured = capture(text);
          expect(captured).to.be.a('string');
          expect(captured).to.not.include(CANARY).and.not.include('4711');
        }
      }
    });
  }

  const VALUES: readonly (readonly [string, unknown])[] = [
    ['a bearer token', `Bearer ${CANARY}`],
    ['credentials of Basic', `basic ${CANARY}`],
    ['a JWT', JWT],
    ['a JWT in a sentence', `use ${JWT} today`],
    ['a private key', `-----BEGIN EC PRIVATE KEY-----\n${CANARY}`],
    ['a URL with a password', `postgres://user:${CANARY}@host/db`],
    ['a pair of a list of headers', [['Authorization', CANARY]]],
    ['a member of a list of headers', [{ name: 'x-api-key', value: CANARY }]],
    ['a member of a list of settings', [{ key: 'DB_PASSWORD', values: [CANARY] }]],
  ];
  for (const [title, value] of VALUES) {
    it(`do not contain ${title}`, () => {
      const captured = capture(JSON.stringify({ kept: 1, text: value }));
      expect(captured).to.include('"kept":1').and.include('[redacted]');
      expect(captured).to.not.include(CANARY);
      expect(captured).to.not.include(JWT.split('.')[1]);
    });
  }

  it('do not contain the credentials of the provider, in a sentence, a name or base64', () => {
    const basic = Buffer.from(`acme:${CREDENTIAL}`).toString('base64');
    const body = { text: `no access with ${CREDENTIAL}.`, [CREDENTIAL]: [`got ${basic}`] };
    expect(capture(JSON.stringify(body))).to.equal(
      '{"text":"no access with [redacted].","[redacted]":["got [redacted]"]}',
    );
  });

  it('contain the last of two duplicate members, redacted', () => {
    expect(capture(`{"token":"${CANARY}","token":"${CANARY}"}`)).to.equal('{"token":"[redacted]"}');
  });

  it('contain harmless values unchanged', () => {
    const body = {
      name: 'n',
      list: [1, null, true],
      nested: { text: 'Basically fine' },
      pinned: 1,
      spin: 2,
      sides: 3,
    };
    expect(capture(JSON.stringify(body))).to.equal(JSON.stringify(body));
    expect(capture('["name","value"]')).to.equal('["name","value"]');
    expect(capture('{"__proto__":{"a":1}}')).to.equal('{"__proto__":{"a":1}}');
  });

  it('are JSON, or nothing', () => {
    for (const body of [
      null,
      '',
      `password=${CANARY}`,
      `<a>${CANARY}</a>`,
      `{"token":"${CANARY}`,
    ]) {
      expect(capture(body)).to.equal(null);
    }
    expect(capture(Buffer.from([0xff, 0xfe, 0x00]))).to.equal(null);
  });

  it('are truncated after redaction to whole characters', () => {
    for (const bytes of [1, 10, 100, 64 * KIB]) {
      const body = JSON.stringify({ token: CANARY, text: '€'.repeat(40 * KIB) });
      const captured = capture(body, bytes) ?? '';
      expect(captured.endsWith('…')).to.equal(true);
      const length = Buffer.byteLength(captured.slice(0, -1));
      expect(length).to.be.within(bytes - 3, bytes);
      expect(captured).to.not.include('\ufffd');
      expect(captured).to.not.include(CANARY);
    }
  });

  it('are not parsed when they are large', () => {
    const body = JSON.stringify({ token: CANARY, text: 'x'.repeat(256 * KIB) });
    expect(capture(body)).to.equal('[cut]');
  });

  it('are not parsed when they have more than 20,000 values', () => {
    const list = (count: number) => `[${Array(count).fill(0)}]`;
    expect(capture(list(19_999)) === list(19_999)).to.equal(true);
    expect(capture(list(20_000)) === '[cut]').to.equal(true);
  });
});
