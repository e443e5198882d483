import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  headerValue,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import type { Answer } from '../../support/echo-provider.js';
import { type Call, call, JSON_TYPE } from '../../support/http/call.js';
import { reasonOf } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const PAGE = 'docs/call/responses.md';
const BODY = '{"n":1.10}';
const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'crm.read' },
  { method: 'POST', path: '/items/{id}', capability: 'crm.write' },
];
const LIMITS = { limits: { response_bytes: 1000, timeout_ms: 2000 } };
const HTML: RawHeader = ['content-type', 'text/html'];
const HEAD = `HTTP/1.1 200 OK\r\n${JSON_TYPE.join(': ')}\r\ncontent-length: 9\r\n\r\n`;

const json = (status: number, ...headers: RawHeader[]): Answer => ({
  status,
  headers: [JSON_TYPE, ...headers],
  body: BODY,
});

/** The script for each outcome: what the provider answers, or what the client sends. */
const OUTCOMES: Readonly<Record<string, Answer | { readonly sent: Partial<Call> }>> = {
  '200 with JSON': json(200),
  '201 with JSON and location': json(201, ['location', '/items/7']),
  '204': { status: 204, headers: [], body: null },
  '304 to a condition': { status: 304, headers: [], body: null },
  '302': json(302, ['location', '/items/7']),
  '206': json(206),
  '401 with JSON': json(401, ['www-authenticate', 'Basic']),
  '404 with JSON': json(404),
  '407 with JSON': json(407),
  '421 with JSON': json(421),
  '429 with JSON and retry-after': json(429, ['retry-after', '7']),
  '500 with JSON': json(500),
  '200 with HTML': { headers: [HTML], body: '<p>' },
  '404 with HTML': { status: 404, headers: [HTML], body: '<p>' },
  '200 with broken JSON': { body: '{' },
  '200 with a body cut short': { raw: [HEAD, '{}'] },
  '200 with too many bytes': { body: `"${'x'.repeat(1000)}"` },
  'no answer in time': { raw: [], finally: 'hang' },
  'no connection': { sent: { target: 'down' } },
  'no token': { sent: { as: null } },
  'no capability': { sent: { as: 'dev-service:a:crm.write' } },
  'no such route': { sent: { target: 'nothing' } },
  'an invalid body': { sent: { method: 'POST', headers: [JSON_TYPE], body: Buffer.from('{') } },
};

describe(PAGE, () => {
  const rows = readRows('Outcomes');
  const setup = useHost((provider) =>
    Object.fromEntries(
      (['envelope', 'raw'] as const).flatMap((mode) => {
        const more = { ...LIMITS, responses: { mode } };
        return [
          [`${mode}.json`, describeModule(mode, provider.url, ROUTES, more)],
          [`down-${mode}.json`, describeModule(`down-${mode}`, 'http://127.0.0.1:9', ROUTES, more)],
        ];
      }),
    ),
  );

  it('lists every outcome that this test causes', () => {
    expect(rows.map(([outcome]) => outcome)).to.have.members(Object.keys(OUTCOMES));
  });

  for (const [outcome = '', ...cells] of rows) {
    (['envelope', 'raw'] as const).forEach((mode, index) => {
      it(`is right about ${outcome} in mode ${mode}`, async () => {
        expect(describeResponse(await cause(outcome, mode))).to.equal(cells[index]);
      });
    });
  }

  async function cause(outcome: string, mode: string): Promise<ReceivedResponse> {
    const script = OUTCOMES[outcome] ?? {};
    const sent = 'sent' in script ? script.sent : {};
    if (!('sent' in script)) setup.provider.answer(script);
    const module = sent.target === 'down' ? `down-${mode}` : mode;
    const path = sent.target === 'nothing' ? 'nothing' : 'items/7';
    return call(setup.host, { ...sent, target: `/modules/${module}/http/${path}` });
  }
});

/** Uses the terms of the table. */
function describeResponse({ status, headers, body }: ReceivedResponse): string {
  const text = body.toString();
  const origin = headerValue(headers, 'modgate-origin');
  if (origin === 'host') {
    const failure = reasonOf(JSON.parse(text), 'failure');
    return failure === undefined ? `${status}` : `${status} ${failure}`;
  }
  if (origin === undefined) {
    const { status: word, data } = JSON.parse(text) as { status: string; data: unknown };
    expect(word).to.equal('forwarded');
    expect(text).to.satisfy((all: string) => data === null || all.endsWith(`"data":${BODY}}`));
    return `${status}, the envelope${data === null ? ' with data: null' : ''}`;
  }
  expect(text).to.be.oneOf(['', BODY]);
  const exposed = ['location', 'www-authenticate', 'retry-after'].filter(
    (name) => headerValue(headers, name) !== undefined,
  );
  return [`${status}`, text === '' ? 'no body' : "the provider's body", ...exposed].join(', ');
}

/** The cells of each row of a section's table, without backquotes. */
function readRows(heading: string): string[][] {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split(`\n## ${heading}\n`);
  const [table = ''] = section.trimStart().split('\n\n');
  const lines = table.split('\n').slice(2);
  return lines.map((line) =>
    line
      .replaceAll('`', '')
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
