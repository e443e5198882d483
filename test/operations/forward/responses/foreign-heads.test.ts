import { expect } from 'chai';
import { describeModule } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const ROUTES = [{ method: 'GET', path: '/x', capability: 'x.read' }];
/** Far longer than a test takes. */
const limits = { timeout_ms: 50_000 };
const HELD = { hold_bytes: 1000 };

type Head = Readonly<Record<string, string>>;

const FOREIGN: Readonly<Record<string, Head>> = {
  'a PDF': { 'content-type': 'application/pdf' },
  'a PDF of a known length': { 'content-type': 'application/pdf', 'content-length': '5000' },
  'a page': { 'content-type': 'text/html; charset=utf-8' },
  'bytes without a type': {},
  'two types': { 'content-type': 'application/json, text/html' },
  'compressed JSON': { 'content-type': 'application/json', 'content-encoding': 'gzip' },
};

describe('responses that a route of JSON cannot carry', () => {
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, url, ROUTES, { limits, ...overrides });
    return {
      'envelope.json': describe('envelope', {}),
      'raw.json': describe('raw', { responses: { mode: 'raw' } }),
      'streamed.json': describe('streamed', { limits: { ...limits, ...HELD } }),
    };
  });

  for (const module of ['envelope', 'raw', 'streamed']) {
    for (const [title, head] of Object.entries(FOREIGN)) {
      it(`end the call before their end: ${title}, ${module}`, async () => {
        let isClosed = false;
        setup.answer((_request, response) => {
          response.writeHead(200, head).write('%PDF');
          response.on('close', () => {
            isClosed = true;
          });
        });
        const response = await setup.fetch(module, '/x');
        expect(response.status).to.equal(502);
        const { errors } = (await response.json()) as { errors: { field: string }[] };
        expect(errors).to.deep.include({ field: 'failure', reason: 'protocol' });
        expect(errors).to.deep.include({ field: 'provider_status', reason: '200' });
        expect((await setup.lastCall())['failure_detail']).to.match(/^content-(?:type|encoding) /);
        await waitUntil('the provider is left', () => isClosed);
      });
    }

    it(`are not those in an encoding that is none: ${module}`, async () => {
      for (const encoding of ['identity', 'UTF-8', 'utf8', 'none']) {
        setup.answer((_request, response) => {
          const head = { 'content-type': 'application/json', 'content-encoding': encoding };
          response.writeHead(200, head).end('{"a":"\u00e9"}');
        });
        const response = await setup.fetch(module, '/x');
        expect(response.status, encoding).to.equal(200);
        expect(await response.text(), encoding).to.contain('{"a":"\u00e9"}');
      }
      for (const encoding of ['utf-16', 'iso-8859-1', 'utf-8, gzip', 'gzip, none']) {
        setup.answer((_request, response) => {
          const head = { 'content-type': 'application/json', 'content-encoding': encoding };
          response.writeHead(200, head).end('{}');
        });
        expect((await setup.fetch(module, '/x')).status, encoding).to.equal(502);
      }
    });

    it(`are not those without a byte: ${module}`, async () => {
      setup.answer((_request, response) => {
        response.writeHead(200).flushHeaders();
        response.end();
      });
      expect((await setup.fetch(module, '/x')).status).to.equal(200);
    });
  }
});
