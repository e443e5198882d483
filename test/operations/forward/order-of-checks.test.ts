import { expect } from 'chai';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { type CorpusBytes, readCorpus, toBytes } from '../../support/http/corpus.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

interface Vector {
  readonly title: string;
  readonly as: string | null;
  readonly method: string;
  readonly target: string;
  readonly headers?: readonly RawHeader[];
  readonly body?: CorpusBytes;
  readonly status: number;
}

const ROUTES: readonly RouteOptions[] = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'POST', path: '/items', capability: 'crm.write' },
  { method: 'PUT', path: '/items/{id}', capability: 'crm.write' },
  { method: 'PATCH', path: '/items/{id}', capability: 'crm.write' },
  { method: 'DELETE', path: '/items/{id}', capability: 'crm.write' },
  { method: 'GET', path: '/closed' },
  { method: 'POST', path: '/closed' },
];
// Discard (RFC 863): nothing listens there.
const UNUSED = 'http://127.0.0.1:9';

describe('order of checks', () => {
  const setup = useHost((provider) => ({
    'crm.json': describeModule('crm', provider.url, ROUTES),
    'down.json': describeModule('down', UNUSED, ROUTES),
  }));

  for (const vector of readCorpus<Vector[]>('order-of-checks')) {
    it(`answers ${vector.title}`, async () => {
      const { body, headers } = vector;
      const response = await call(setup.host, {
        method: vector.method,
        target: vector.target,
        as: vector.as,
        headers: headers ?? (body === undefined ? [] : [JSON_TYPE]),
        ...(body === undefined ? {} : { body: toBytes(body) }),
      });
      expectProblem(response, vector.status);
      expect(setup.provider.requests, 'calls of the provider').to.have.length(0);
    });
  }

  it('answers 200 when all of them pass', async () => {
    const as = 'dev-service:probe:crm.read';
    const response = await call(setup.host, { target: '/modules/crm/http/items', as });
    expect(response.status).to.equal(200);
    expect(setup.provider.only().method).to.equal('GET');
  });
});
