import { expect } from 'chai';
import { headerValues } from '../../core/selftest/raw-http.js';
import { callConsole, signIn } from '../support/console/console-client.js';
import { describeModule } from '../support/http/modules.js';
import { type Answer, useScriptedProvider } from '../support/http/use-scripted-provider.js';
import { callTool } from '../support/mcp/mcp-call.js';

const TOKEN = 'dev-service:quoted-by-the-provider:use';
const COOKIE = 'session-of-another-user';
const NUMBER = '73571357';
const ROUTES = [
  { method: 'GET', path: '/json', capability: 'use' },
  { method: 'POST', path: '/json', capability: 'use' },
];

const everyByte = (text: string, write = (hex: string) => hex) =>
  [...Buffer.from(text)].map((byte) => `%${write(byte.toString(16).padStart(2, '0'))}`).join('');

/** Each form in which a provider may repeat a credential. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'encoded as a component': encodeURIComponent,
  'encoded in lower case': (text) => everyByte(text),
  'encoded in upper case': (text) => everyByte(text, (hex) => hex.toUpperCase()),
  'encoded in part': (text) => `${text.slice(0, 5)}${everyByte(text.slice(5, 9))}${text.slice(9)}`,
  'encoded twice': (text) => everyByte(text).replaceAll('%', '%25'),
  'in base64': (text) => Buffer.from(text).toString('base64'),
  'as a Basic credential': (text) => Buffer.from(`user:${text}`).toString('base64'),
};

/** Whether a text has the credential, or half of it, in any form. */
function reveals(text: string, credential: string): boolean {
  let form = text;
  for (let round = 0; round < 3; round += 1) {
    const decoded = [...form.matchAll(/[A-Za-z0-9+/_-]{8,}/g)].flatMap(({ 0: run }) =>
      [0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString()),
    );
    if ([form, ...decoded].some((part) => part.includes(credential.slice(0, 12)))) return true;
    form = form.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return false;
}

const json =
  (value: unknown, status = 200): Answer =>
  (_request, response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(value));

const typed =
  (parameter: string): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': `text/html; a="${parameter}"` }).end('<p>');

describe('credentials of a caller that a provider repeats', () => {
  const setup = useScriptedProvider(
    (url) => ({
      'plain.json': describeModule('plain', url, ROUTES, {
        records: { capture_bytes: 4096 },
        provider_errors: 'passthrough',
        mcp: { expose: 'read' },
      }),
    }),
    ['--surfaces', 'mcp'],
  );

  const headers = { authorization: `Bearer ${TOKEN}`, cookie: `sid=${COOKIE}; pin=${NUMBER}` };
  const send = (init: RequestInit = {}) => setup.fetch('plain', '/json', { ...init, headers });

  const expectHidden = async (...credentials: readonly string[]) => {
    const call = JSON.stringify(await setup.lastCall());
    expect(call, credentials.join()).to.include('[redacted]');
    for (const credential of credentials) {
      for (const text of [call, setup.host.output()]) {
        expect(reveals(text, credential), text).to.equal(false);
      }
    }
  };

  for (const [name, form] of Object.entries(FORMS)) {
    it(`are not in the detail of a failure, ${name}`, async () => {
      setup.answer(typed(form(TOKEN)));
      expect((await send()).status).to.equal(502);
      await expectHidden(TOKEN);
    });

    it(`are not in captured bodies, ${name}`, async () => {
      const quoted = { text: `before ${form(TOKEN)} behind`, [form(COOKIE)]: [form(COOKIE)] };
      setup.answer(json(quoted));
      const body = JSON.stringify({ note: form(TOKEN), list: [form(COOKIE)], pin: 1 });
      expect((await send({ method: 'POST', body })).status).to.equal(400);
      const sent = { ...headers, 'content-type': 'application/json' };
      const response = await setup.fetch('plain', '/json', { method: 'POST', body, headers: sent });
      expect(((await response.json()) as { data: unknown }).data).to.deep.equal(quoted);
      await expectHidden(TOKEN, COOKIE);
    });
  }

  it('are not in captured bodies as numbers', async () => {
    setup.answer(json({ count: Number(NUMBER), other: 4711 }));
    await send();
    const { response_body } = await setup.lastCall();
    expect(response_body).to.equal('{"count":"[redacted]","other":4711}');
  });

  it('are removed from an error before it is shortened', async () => {
    for (let before = 1000 - TOKEN.length; before <= 1000; before += 3) {
      const detail = `${'-'.repeat(before)}${TOKEN}`;
      setup.answer(
        json(
          { detail, errors: [{ field: `${'f'.repeat(before - 800)}${TOKEN}`, message: detail }] },
          409,
        ),
      );
      const response = await send();
      expect(response.status).to.equal(409);
      expect(await response.text()).not.to.include(TOKEN.slice(0, 3));
      expect(JSON.stringify(await setup.lastCall())).not.to.include(TOKEN.slice(0, 3));
    }
  });

  it('are not in the record of a call through /mcp', async () => {
    setup.answer(typed(everyByte(TOKEN)));
    await callTool(setup.host, 'plain_get_json', '{}', { as: TOKEN });
    await expectHidden(TOKEN);
    setup.answer(json({ echo: TOKEN }));
    await callTool(setup.host, 'plain_get_json', '{}', { as: TOKEN });
    await expectHidden(TOKEN);
  });

  it('are not in the record of a call of the console', async () => {
    const token = 'dev-service:quoted-in-the-console:use';
    const cookie = await signIn(setup.host, token);
    const [, value = ''] = cookie.split('=');
    for (const quoted of [value, everyByte(value), token, everyByte(token)]) {
      for (const answer of [typed(quoted), json({ echo: quoted })]) {
        setup.answer(answer);
        const { headers: received } = await callConsole(setup.host, {
          path: '/modules/plain/http/json',
          cookie,
        });
        expect(headerValues(received, 'x-request-id')).to.have.length(1);
        await expectHidden(value, token);
      }
    }
  });
});
