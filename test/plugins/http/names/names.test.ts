import { expect } from 'chai';
import { headerValue } from '../../../../core/selftest/raw-http.js';
import { a, srv, useNames } from '../../../support/dns/use-names.js';
import { parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const NAME = 'crm.internal';
const SERVICE = '_http._tcp.crm.internal';

describe('endpoints by name', () => {
  const context = useNames();
  const byDns = (overrides = {}) => [{ dns: NAME, port: context.names.places.port, ...overrides }];

  it('calls every address of a name by the name and port', async () => {
    const { names } = context;
    const { port } = names.places;
    names.serve({ [NAME]: a('127.0.0.3', '127.0.0.2') });
    await names.open(byDns({ path: '/api' }));
    await names.waitForAddresses('127.0.0.2', '127.0.0.3');
    const first = await names.at();
    const second = await names.at();
    expect([first.at, second.at].sort()).to.deep.equal(['127.0.0.2', '127.0.0.3']);
    expect(first).to.include({ host: `${NAME}:${port}`, target: '/api/a' });
    const { endpoints, ...shown } = await names.shown();
    expect(endpoints[0]?.endpoint).to.equal(`http://127.0.0.2:${port}/api (${NAME})`);
    expect(shown).to.include({ resolve_error: null });
    expect(Date.parse(shown.resolved_at ?? '')).to.be.closeTo(Date.now(), 60_000);
  });

  it('maps references to the name and port below the module', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.2') });
    const responses = { expose_headers: ['location'] };
    await names.open(byDns({ path: '/api/' }), { more: { responses } });
    const { headers } = await names.get();
    expect(headerValue(headers, 'location')).to.equal('/modules/crm/http/things/1');
  });

  it('keeps the state of remaining addresses, and ends the series of removed ones', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.2', '127.0.0.3') });
    await names.open(byDns({ path: '/state' }));
    await names.waitForAddresses('127.0.0.2', '127.0.0.3');
    for (let round = 0; round < 4; round += 1) await names.at();
    names.serve({ [NAME]: a('127.0.0.3', '127.0.0.4') });
    await names.waitForAddresses('127.0.0.3', '127.0.0.4');
    const { endpoints } = await names.shown();
    expect(endpoints.map(({ calls }) => calls)).to.deep.equal([2, 0]);
    const metrics = await names.metrics();
    expect(metrics).to.include('http://127.0.0.4:').and.not.include('http://127.0.0.2:');
  });

  it('lets calls at a removed address finish', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.2') });
    await names.open(byDns({ path: '/gone' }));
    await names.waitForAddresses('127.0.0.2');
    const slow = names.get('/slow');
    await waitUntil('the call is in flight', async () => {
      return (await names.shown()).endpoints[0]?.in_flight === 1;
    });
    names.serve({ [NAME]: a('127.0.0.3') });
    await names.waitForAddresses('127.0.0.3');
    expect((await names.at()).at).to.equal('127.0.0.3');
    names.places.release();
    expect(parseJson(await slow)).to.have.nested.property('data.at', '127.0.0.2');
  });

  it('uses ports, weights and priorities of SRV records', async () => {
    const { names } = context;
    const { port } = names.places;
    names.serve({
      [SERVICE]: [
        srv('n1.internal', port, { weight: 3 }),
        srv('n2.internal', port, { weight: 0 }),
        srv('n3.internal', port, { priority: 9 }),
      ],
      'n1.internal': a('127.0.0.2'),
      'n2.internal': a('127.0.0.3'),
      'n3.internal': a('127.0.0.4'),
    });
    await names.open([{ srv: SERVICE }]);
    await names.waitForAddresses('127.0.0.2', '127.0.0.3', '127.0.0.4');
    const calls = [];
    for (let round = 0; round < 8; round += 1) calls.push(await names.at());
    expect(calls.map(({ at }) => at.at(-1)).join('')).to.equal('22322232');
    expect(calls[0]?.host).to.equal(`${NAME}:${port}`);
  });

  it('calls a lower priority while nothing above it is up with a closed breaker', async () => {
    const { names } = context;
    const { port } = names.places;
    names.serve({
      [SERVICE]: [srv('n1.internal', 9), srv('n2.internal', port, { priority: 2 })],
      'n1.internal': a('127.0.0.2'),
      'n2.internal': a('127.0.0.3'),
    });
    const breaker = { failures: 1, open_ms: 60_000 };
    await names.open([{ srv: SERVICE, path: '/low' }], {
      more: { breaker, retry: { attempts: 0 } },
    });
    expect((await names.get()).status).to.equal(502);
    expect((await names.at()).at).to.equal('127.0.0.3');
  });

  it('keeps the last answer while servers fail', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.2') });
    await names.open(byDns({ path: '/stale' }));
    await names.waitForAddresses('127.0.0.2');
    names.reply = () => ({ rcode: 'SERVFAIL' });
    await waitUntil('the error is shown', async () => {
      return (await names.shown()).resolve_error === `DNS ESERVFAIL ${NAME}`;
    });
    expect((await names.at()).at).to.equal('127.0.0.2');
    expect(await names.metrics()).to.match(/modgate_resolve_failures_total\{module="crm"\} [1-9]/);
  });

  it('keeps the last answer over a reload of the module while servers fail', async () => {
    const { names } = context;
    const { port } = names.places;
    names.serve({
      [NAME]: a('127.0.0.2'),
      [SERVICE]: [srv('n1.internal', port)],
      'n1.internal': a('127.0.0.3'),
    });
    const endpoints = [...byDns({ path: '/reload' }), { srv: SERVICE, path: '/reload' }];
    await names.open(endpoints);
    await names.waitForAddresses('127.0.0.2', '127.0.0.3');
    const { resolved_at: before } = await names.shown();
    names.reply = () => ({ rcode: 'SERVFAIL' });
    await names.open(endpoints, { more: { retry: { attempts: 0 } } });
    await names.waitForAddresses('127.0.0.2', '127.0.0.3');
    expect((await names.at()).at).to.equal('127.0.0.2');
    const { resolved_at: after, resolve_error: error } = await names.shown();
    expect(error).to.match(/^DNS ESERVFAIL/);
    expect(Date.parse(after ?? '')).to.be.at.least(Date.parse(before ?? ''));
    // Answers of another server, or before an option that restricts addresses, do not count.
    const { code } = await names
      .open(endpoints, { resolver: { allow_local: false } })
      .then(async () => parseJson(await names.get()) as { code?: string });
    expect(code).to.equal('external_dependency_failure');
  });

  it('drops the last answer once it is older than stale_ms', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.2') });
    await names.open(byDns({ path: '/old' }), { resolver: { stale_ms: 0 } });
    await names.waitForAddresses('127.0.0.2');
    names.reply = () => ({ rcode: 'SERVFAIL' });
    await names.waitForAddresses();
    const response = await names.get();
    expectProblem(response, 502);
    expect(parseJson(response)['errors']).to.deep.include({
      field: 'failure',
      reason: 'unavailable',
    });
    expect(await names.shown()).to.include({ state: 'live' });
    names.serve({ [NAME]: a('127.0.0.3') });
    await names.waitForAddresses('127.0.0.3');
    expect((await names.at()).at).to.equal('127.0.0.3');
  });

  for (const [title, reply] of [
    ['NXDOMAIN', { rcode: 'NXDOMAIN' }],
    ['an empty answer', {}],
  ] as const) {
    it(`drops the addresses after ${title} twice in a row`, async () => {
      const { names } = context;
      names.serve({ [NAME]: a('127.0.0.2') });
      await names.open(byDns({ path: `/${title.replaceAll(' ', '')}` }));
      await names.waitForAddresses('127.0.0.2');
      let lookups = 0;
      // Each lookup asks for both families.
      names.reply = ({ type }) => {
        if (type === 'A') lookups += 1;
        return lookups % 2 === 1 ? reply : { records: a('127.0.0.2') };
      };
      await waitUntil('ten lookups', async () => {
        expect(await names.addresses()).to.have.length(1);
        return lookups >= 10;
      });
      names.reply = () => reply;
      await names.waitForAddresses();
      const code = title === 'NXDOMAIN' ? 'ENOTFOUND' : 'ENODATA';
      expect(await names.shown()).to.include({ resolve_error: `DNS ${code} ${NAME}` });
    });
  }

  it('is live with a name that was never answered, and says why calls fail', async () => {
    const { names } = context;
    names.serve({});
    await names.open(byDns({ path: '/never' }));
    const response = await names.get();
    expect(response.status).to.equal(502);
    expect(await names.shown()).to.include({
      state: 'live',
      resolved_at: null,
      resolve_error: `DNS ENOTFOUND ${NAME}`,
    });
    const details = names.host.logs().map((line) => line['failure_detail']);
    expect(details).to.include(`DNS ENOTFOUND ${NAME}`);
    const records = parseJson(await names.calls()) as { calls: object[] };
    expect(records.calls[0]).to.include({ failure_detail: `DNS ENOTFOUND ${NAME}` });
    names.serve({ [NAME]: a('127.0.0.2') });
    await names.waitForAddresses('127.0.0.2');
  });

  it('rejects local addresses without allow_local', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.2', '169.254.169.254', '0.0.0.0', '224.0.0.1') });
    await names.open(byDns({ path: '/local' }), { resolver: { allow_local: false } });
    expect(await names.shown()).to.deep.include({
      endpoints: [],
      resolve_error: `DNS local address not allowed ${NAME}`,
    });
    expect((await names.get()).status).to.equal(502);
    names.serve({ [NAME]: a('127.0.0.2', '192.0.2.7') });
    await waitUntil('the other address is used', async () => {
      const [first, ...others] = await names.addresses();
      return first === `192.0.2.7:${names.places.port}` && others.length === 0;
    });
  });

  it('uses 256 addresses of a name that has more', async () => {
    const { names } = context;
    const many = Array.from({ length: 10_000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`);
    names.serve({ [NAME]: a(...many) });
    await names.open(byDns({ path: '/many' }));
    await waitUntil('256 endpoints', async () => (await names.addresses()).length === 256);
  });

  it('keeps the last answer while a server never answers', async () => {
    const { names } = context;
    names.serve({ [NAME]: a('127.0.0.2') });
    await names.open(byDns({ path: '/silent' }));
    await names.waitForAddresses('127.0.0.2');
    names.reply = () => null;
    await waitUntil('the lookup times out', async () => {
      return (await names.shown()).resolve_error === `DNS ETIMEOUT ${NAME}`;
    });
    expect((await names.at()).at).to.equal('127.0.0.2');
  });
});
