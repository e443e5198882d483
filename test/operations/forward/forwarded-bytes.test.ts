import { expect } from 'chai';
import fc from 'fast-check';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

// Each run is one request over a new connection: about 2 ms.
const RUNS = 250;
const PREFIX = '/modules/wide/http';

const PATH_TOKENS = [
  ...[
    'a',
    'B',
    '0',
    '41',
    '.',
    '..',
    ';',
    ':',
    '@',
    '!',
    "'",
    '(',
    '+',
    '~',
    '=',
    '&',
    '*',
    '[',
    ']',
  ],
  ...['"', '<', '>', '^', '`', '{', '}', '|', '\\', '#'],
  ...['%2e', '%2E', '%2f', '%5C', '%3f', '%23', '%00', '%0A', '%1f', '%7F', '%20', '%41', '%3b'],
  ...['%C2%80', '%c2%9f', '%C2%A0', '%c3%a9', '%E2%80%A8', '%EF%BB%BF', '%f0%9f%98%80'],
  ...['%', '%2', '%zz', '%25', '%ff', '%c3', '%c0%ae', '%ed%a0%80', '%f4%90%80%80'],
];
const QUERY_TOKENS = [
  'a',
  '=',
  '&',
  '?',
  '/',
  '..',
  ';',
  '%',
  '%zz',
  '%00',
  '%2f',
  '+',
  "'",
  '{',
  '|',
];

const segment = fc
  .array(fc.constantFrom(...PATH_TOKENS), { maxLength: 4 })
  .map((all) => all.join(''));
const path = fc
  .array(fc.oneof({ weight: 1, arbitrary: segment }, { weight: 2, arbitrary: fc.constant('ok') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((segments) => segments.join('/'));
const query = fc
  .array(fc.constantFrom(...QUERY_TOKENS), { maxLength: 6 })
  .map((all) => (all.length === 0 ? '' : `?${all.join('')}`));

const JSON_TOKENS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '1',
    '-',
    '.',
    'e5',
    'null',
    'true',
    ' ',
    '\n',
    '\u00a0',
  ],
  ...['"', '\\', '\\u00', '\\ud800', 'é', '\ufeff', '\u0000', '\t', '//', "'"],
];
const brokenJson = fc
  .array(fc.constantFrom(...JSON_TOKENS), { maxLength: 6 })
  .map((all) => Buffer.from(all.join('')));
const soundJson = fc.json().map((text) => Buffer.from(text));
/** JSON with one byte changed: nearly valid text is hardest for parsers. */
const bentJson = fc
  .tuple(soundJson, fc.nat(), fc.integer({ min: 0, max: 255 }))
  .map(([sound, at, byte]) => {
    const bent = Buffer.from(sound);
    bent[at % bent.length] = byte;
    return bent;
  });

describe('forwarded bytes', () => {
  const setup = useHost((provider) => ({ 'wide.json': describeWideModule('wide', provider.url) }));

  it('are those of any path that is not rejected', async () => {
    await fc.assert(
      fc.asyncProperty(path, query, async (sentPath, sentQuery) => {
        setup.provider.reset();
        const target = `/${sentPath}${sentQuery}`;
        const response = await call(setup.host, { target: PREFIX + target });
        const decoded = decodePath(sentPath);
        if (decoded === null) {
          expectProblem(response, 404);
          expect(setup.provider.requests).to.have.length(0);
          return;
        }
        expect(response.status, response.body.toString()).to.equal(200);
        expect(setup.provider.only().target).to.equal(target);
        expect(parseJson(response)['provider_path']).to.equal(`/${decoded}`);
      }),
      { numRuns: RUNS },
    );
  });

  it('are those of any body that is valid JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(soundJson, bentJson, brokenJson), async (body) => {
        setup.provider.reset();
        const request = { method: 'POST', target: `${PREFIX}/a`, headers: [JSON_TYPE], body };
        const response = await call(setup.host, request);
        if (!isJson(body)) {
          expectProblem(response, 400);
          expect(setup.provider.requests).to.have.length(0);
          return;
        }
        expect(response.status, response.body.toString()).to.equal(200);
        expect(setup.provider.only().body.equals(body)).to.equal(true);
      }),
      { numRuns: RUNS, examples: [[Buffer.from('\ufeff""')]] },
    );
  });

  it('are those of any response that is valid JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(soundJson, bentJson), async (body) => {
        setup.provider.reset();
        setup.provider.answer({ body });
        const response = await call(setup.host, { target: `${PREFIX}/a` });
        if (!isJson(body)) {
          expectProblem(response, 502);
          // A valid response in between keeps the circuit breaker closed.
          setup.provider.reset();
          expect((await call(setup.host, { target: `${PREFIX}/a` })).status).to.equal(200);
          return;
        }
        expect(response.status).to.equal(200);
        expect(response.body.includes(body)).to.equal(true);
        expect(Object.keys(parseJson(response))).to.have.length(8);
      }),
      { numRuns: RUNS },
    );
  });
});

/** A second implementation of the path rules: the decoded segments joined, `null` where there is no match. */
function decodePath(raw: string): string | null {
  if (/[^\x21-\x7e]|["<>^`{}|\\#]/.test(raw)) return null;
  const decoded: string[] = [];
  for (const part of raw.split('/')) {
    const text = decodeStrictly(part);
    if (text === null || text === '' || /^\.\.?(?:;|$)/.test(text)) return null;
    if (/[/\\?#\p{Cc}]|%[0-9a-f]{2}/iu.test(text)) return null;
    decoded.push(text);
  }
  return decoded.join('/');
}

function decodeStrictly(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}
