import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { headerValue, headerValues } from '../../../core/selftest/raw-http.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL } from '../../support/isolation/write-plugin.js';
import { useSurfaceHost } from '../../support/surfaces/use-surface-host.js';

/** The last segment of the path selects the behavior of the surface. */
const ENTRY = `import { defineSurface, SurfaceError } from ${JSON.stringify(CONTRACT_URL)};
import { object } from ${JSON.stringify(SUPERSTRUCT_URL)};
const fail = (options, code = 'conflict', detail = 'taken') => {
  throw new SurfaceError(code, detail, options);
};
const announce = (length, body) => new Response(body, { headers: { 'content-length': length } });
const answers = {
  fine: () => new Response('fine'),
  bodiless: () => announce('10', null),
  frompeer: ({ call, host }) => host.request(call.actor, { method: 'HEAD', target: '/livez' }),
  unmodified: () => new Response(null, { status: 304, headers: { 'content-length': '10' } }),
  word: () => announce('abc', 'hello'),
  twice: () => new Response('hello', { headers: [['content-length', '5'], ['content-length', '5']] }),
  hexadecimal: () => announce('0x5', 'hello'),
  signed: () => announce('+5', 'hello'),
  blank: () => announce('', 'hello'),
  length: () => fail({ headers: { 'content-length': '3', 'transfer-encoding': 'chunked' } }),
  type: () => fail({ headers: { 'content-type': 'text/html', 'cache-control': 'public' } }),
  number: () => fail({ headers: { 'retry-after': 5 } }),
  line: () => fail({ headers: { 'x-own': 'a\\r\\nx-other: b' } }),
  name: () => fail({ headers: { 'x own': 'a' } }),
  missing: () => fail({ headers: { 'retry-after': undefined } }),
  code: () => fail({}, 'teapot'),
  inherited: () => fail({}, 'constructor'),
  detail: () => fail({}, 'conflict', { toString: null }),
  errors: () => fail({ errors: 5 }),
  bigint: () => fail({ errors: [{ field: 'a', reason: 1n }] }),
  circle: () => { const errors = []; errors.push(errors); fail({ errors }); },
  actions: () => fail({ nextActions: {} }),
};
const desk = defineSurface({
  name: 'desk',
  prefix: '/desk',
  config: object({}),
  open: (_config, { host }) => ({
    fetch: async (request, call) => answers[new URL(request.url).pathname.slice(6)]({ call, host }),
  }),
});
export default { surfaces: [desk] };
`;

const LENGTH = 'content-length';

describe('a malformed answer of a surface', () => {
  const setup = useSurfaceHost({ entry: ENTRY, surfaces: ['desk'] });

  const get = (action: string) => call(setup.host, { target: `/desk/${action}` });
  const expectLog = async (message: string, work: () => Promise<unknown>) => {
    const count = () => setup.host.logs().filter(({ msg }) => msg === message).length;
    const before = count();
    await work();
    await waitUntil(`'${message}' is logged`, () => count() > before);
  };

  /** Both requests on one connection. */
  const getTwo = async (first: string, second: string): Promise<string> => {
    const socket = connect(setup.host.port, '127.0.0.1');
    const head = `host: 127.0.0.1:${setup.host.port}\r\nauthorization: Bearer dev-system:root\r\n`;
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    socket.write(`GET /desk/${first} HTTP/1.1\r\n${head}\r\n`);
    socket.write(`GET /desk/${second} HTTP/1.1\r\n${head}connection: close\r\n\r\n`);
    await once(socket, 'close');
    return received;
  };

  for (const action of ['bodiless', 'frompeer']) {
    it(`does not announce a body that it has not (${action})`, async () => {
      const received = await getTwo(action, 'fine');
      const [first = '', second = ''] = received.split(/(?=HTTP\/1\.1)/);
      expect(first).to.match(/^HTTP\/1\.1 200/);
      expect(first.toLowerCase()).not.to.match(/content-length: [1-9]/);
      expect(second).to.contain('fine');
    });
  }

  it('keeps the length of a 304', async () => {
    const { status, headers } = await get('unmodified');
    expect([status, headerValue(headers, LENGTH)]).to.deep.equal([304, '10']);
  });

  for (const action of ['word', 'twice', 'hexadecimal', 'signed', 'blank']) {
    it(`is sent without a length that is not a number (${action})`, async () => {
      const { status, headers, body } = await get(action);
      expect([status, body.toString()]).to.deep.equal([200, 'hello']);
      expect(headerValues(headers, LENGTH)).to.deep.equal([]);
    });
  }

  it('is logged when its length cannot be sent', async () => {
    await expectLog('surface response without its length', () => get('bodiless'));
  });

  it('cannot frame or type a Problem', async () => {
    for (const action of ['length', 'type']) {
      const response = await get(action);
      expectProblem(response, 409, 'conflict');
      for (const name of [LENGTH, 'content-type', 'cache-control']) {
        expect(headerValues(response.headers, name), name).to.have.length(1);
      }
      expect(headerValues(response.headers, 'transfer-encoding')).to.deep.equal([]);
      expect(headerValue(response.headers, 'cache-control')).to.equal('no-store');
    }
  });

  it('may give a header of a Problem as a number', async () => {
    const response = await get('number');
    expectProblem(response, 409, 'conflict');
    expect(headerValue(response.headers, 'retry-after')).to.equal('5');
  });

  for (const action of [
    ...['line', 'name', 'missing', 'code', 'inherited', 'detail', 'errors', 'bigint', 'circle'],
    'actions',
  ]) {
    it(`is an internal error for a malformed SurfaceError (${action}), and is logged`, async () => {
      await expectLog('surface request failed', async () => {
        expectProblem(await get(action), 500, 'internal_error');
      });
      expect((await get('fine')).status).to.equal(200);
    });
  }
});
