import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { askBridge, type BridgeCall } from '../../support/bridge/bridge.js';
import { crmDescriptor, READ, SYNC } from '../../support/bridge/crm.js';
import { useHost } from '../../support/http/use-host.js';

const LIST: BridgeCall = {
  permission: READ,
  payload: { operation: 'admin_data_list', entity: 'contacts' },
};
const INVOKE: BridgeCall = {
  permission: SYNC,
  payload: { operation: 'admin_action_invoke', action: 'ping' },
};
const PASSED_ON = [400, 404, 409, 410, 412, 422, 429];

describe('the console bridge: provider_errors', () => {
  const members = { breaker: { failures: 1_000 } };
  const setup = useHost(({ url }) => ({
    'crm.json': crmDescriptor(url, { ...members, provider_errors: 'passthrough' }),
    'plain.json': crmDescriptor(url, { ...members, module: 'plain' }),
  }));
  const rejectWith = (status: number) =>
    setup.provider.answer({
      status,
      headers: [
        ['content-type', 'application/json'],
        ['retry-after', '7'],
        ['x-own', 'no'],
      ],
      body: '{"detail":"the list is locked"}',
    });

  for (const call of [LIST, INVOKE]) {
    const { operation } = call.payload as { operation: string };

    it(`${operation}: passthrough returns the provider's error to the console`, async () => {
      for (const status of PASSED_ON) {
        rejectWith(status);
        const { problem, response } = await askBridge(setup.host, call);
        expect(problem).to.include({
          status,
          code: 'provider_error',
          detail: 'the list is locked',
        });
        expect(problem.errors).to.deep.include({
          field: 'provider_status',
          reason: String(status),
        });
        expect(response.status).to.equal(status);
        expect(headerValue(response.headers, 'retry-after')).to.equal('7');
        expect(headerValue(response.headers, 'x-own')).to.equal(undefined);
      }
    });

    it(`${operation}: any other status is a 502`, async () => {
      for (const status of [401, 403, 418, 500, 503]) {
        rejectWith(status);
        const { problem } = await askBridge(setup.host, call);
        expect(problem).to.include({ status: 502, code: 'external_dependency_failure' });
        expect(problem.detail).to.not.include('locked');
      }
    });

    it(`${operation}: without passthrough every error is a 502`, async () => {
      rejectWith(409);
      const { problem } = await askBridge(setup.host, { ...call, module: 'plain' });
      expect(problem).to.include({ status: 502, code: 'external_dependency_failure' });
      expect(problem.errors).to.deep.include({ field: 'provider_status', reason: '409' });
    });
  }
});
