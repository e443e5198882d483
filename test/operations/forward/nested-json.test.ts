import { expect } from 'chai';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';

const ROUTES = [
  { method: 'GET', path: '/x', capability: 'x.read' },
  { method: 'POST', path: '/x', capability: 'x.write' },
];
const JSON_TYPE = { 'content-type': 'application/json' };
const bytes = { response_bytes: 4_194_304, request_bytes: 4_194_304 };
/** The documented limit. */
const LEVELS = 524_288;

const nest = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

describe('JSON that is nested deeply', () => {
  const setup = useScriptedProvider((url) => {
    const describe = (name: string, limits: object, overrides: object = {}) =>
      describeModule(name, url, ROUTES, { limits: { ...bytes, ...limits }, ...overrides });
    const streamed = { hold_bytes: 1000, hold_request_bytes: 1000 };
    return {
      'held.json': describe('held', {}),
      'streamed.json': describe('streamed', streamed),
      'raw.json': describe('raw', {}, { responses: { mode: 'raw' } }),
      'raw-streamed.json': describe('raw-streamed', streamed, { responses: { mode: 'raw' } }),
    };
  });
  const post = (module: string, body: string) =>
    setup.fetch(module, '/x', { method: 'POST', headers: JSON_TYPE, body });

  for (const module of ['held', 'streamed', 'raw', 'raw-streamed']) {
    it(`passes in both directions up to the limit (${module})`, async () => {
      for (const levels of [300_000, LEVELS]) {
        const text = nest(levels);
        let received = '';
        setup.answer((request, response) => {
          request.setEncoding('utf8').on('data', (part: string) => {
            received += part;
          });
          request.once('end', () => response.writeHead(200, JSON_TYPE).end(text));
        });
        expect((await (await setup.fetch(module, '/x')).text()).includes(text)).to.equal(true);
        received = '';
        const response = await post(module, text);
        expect(response.status).to.equal(200);
        expect((await response.text()).includes(text)).to.equal(true);
        expect(received === text).to.equal(true);
      }
    });

    it(`is rejected beyond the limit, with the reason (${module})`, async () => {
      const reason = `nested deeper than ${LEVELS} levels`;
      const text = nest(LEVELS + 1);
      setup.answer((request, response) => {
        request.on('error', () => {}).resume();
        request.once('end', () => response.writeHead(200, JSON_TYPE).end(text));
      });
      const response = await setup.fetch(module, '/x');
      // A streamed response is cut.
      const body = await response.text().catch(() => null);
      if (!module.endsWith('streamed')) expect(body).to.include(reason);
      else expect(body).to.equal(null);
      const { status, failure, failure_detail } = await setup.lastCall();
      expect([status, failure, failure_detail]).to.deep.equal([502, 'protocol', reason]);
      const rejected = await post(module, text);
      expect(rejected.status).to.equal(400);
      expect(((await rejected.json()) as { errors: object[] }).errors).to.deep.include({
        field: 'body',
        reason,
      });
    });
  }
});
