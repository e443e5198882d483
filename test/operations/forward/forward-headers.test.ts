import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import { call } from '../../support/http/call.js';
import { readCorpus } from '../../support/http/corpus.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

describe('forward_headers', () => {
  const refused = readCorpus<string[]>('forward-headers-refused');
  const setup = useHost((provider) => {
    const files: Record<string, object> = {
      'wide.json': describeWideModule('wide', provider.url),
      'tenant.json': describeWideModule('tenant', provider.url, {
        forward_headers: ['x-tenant', 'X-Mixed-Case'],
      }),
      'conditions.json': describeWideModule('conditions', provider.url, {
        forward_headers: ['if-none-match', 'if-unmodified-since'],
      }),
      'good.json': describeWideModule('good', provider.url, { forward_headers: ['x-a', 'x-b'] }),
    };
    refused.forEach((name, index) => {
      const more = { forward_headers: ['x-tenant', name] };
      files[`bad-${index}.json`] = describeWideModule(`bad-${index}`, provider.url, more);
    });
    return files;
  });
  const get = (headers: readonly RawHeader[], module = 'wide') =>
    call(setup.host, { target: `/modules/${module}/http/a`, headers });
  const receivedHeader = (name: string) => headerValue(setup.provider.only().headers, name);

  refused.forEach((name, index) => {
    it(`rejects the descriptor for ${name}`, async () => {
      const target = `/modules/bad-${index}/http/a`;
      expectProblem(await call(setup.host, { target }), 404);
    });
  });

  it('accepts a descriptor without denied names', async () => {
    const response = await call(setup.host, { target: '/modules/good/http/a' });
    expect(response.status).to.equal(200);
  });

  it('has the headers of forward_headers, in any case', async () => {
    await get(
      [
        ['X-TENANT', 't1'],
        ['x-mixed-case', 'm1'],
      ],
      'tenant',
    );
    expect(receivedHeader('x-tenant')).to.equal('t1');
    expect(receivedHeader('x-mixed-case')).to.equal('m1');
  });

  it('may name the conditions of a read, which reach no provider in envelope mode otherwise', async () => {
    await get([['if-none-match', '*']], 'conditions');
    await get([['if-none-match', '*']], 'wide');
    const received = setup.provider.requests.map(({ headers }) => {
      return headerValue(headers, 'if-none-match');
    });
    expect(received).to.deep.equal(['*', undefined]);
  });

  it('has the bytes of a header unchanged', async () => {
    await get([['x-tenant', 'caf\u00e9 "x"; y=\\']], 'tenant');
    expect(receivedHeader('x-tenant')).to.equal('caf\u00e9 "x"; y=\\');
  });

  it('has no header from forward_headers of another module', async () => {
    await get([['x-tenant', 't1']], 'wide');
    expect(receivedHeader('x-tenant')).to.equal(undefined);
  });

  for (const connection of [
    'x-tenant',
    'X-TENANT',
    'close, X-Tenant',
    'close,x-tenant',
    'keep-alive ,\tx-TENANT , te',
    ',,x-tenant,',
  ]) {
    it(`drops the headers that connection names: ${JSON.stringify(connection)}`, async () => {
      const headers: RawHeader[] = [
        ['connection', connection],
        ['x-tenant', 't1'],
      ];
      expect((await get(headers, 'tenant')).status).to.equal(200);
      expect(receivedHeader('x-tenant')).to.equal(undefined);
    });
  }

  it('drops the headers that a second connection header names', async () => {
    await get(
      [
        ['connection', 'close'],
        ['Connection', 'x-tenant'],
        ['x-tenant', 't1'],
      ],
      'tenant',
    );
    expect(receivedHeader('x-tenant')).to.equal(undefined);
  });
});
