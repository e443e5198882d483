import { join } from 'node:path';
import { expect } from 'chai';
import { holdLock } from '../../store/holder.js';
import { askBridge } from '../../support/bridge/bridge.js';
import { crmDescriptor, SYNC } from '../../support/bridge/crm.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

describe('admin_action_invoke while the store can only be read', () => {
  const setup = useHost(({ url }) => ({ 'crm.json': crmDescriptor(url) }));
  const ask = () =>
    askBridge(setup.host, {
      permission: SYNC,
      payload: { operation: 'admin_action_invoke', action: 'ping' },
    });

  it('is 503 before the provider is called, since no audit row could be written', async () => {
    expect((await ask()).response.status).to.equal(200);
    expect(setup.provider.requests).to.have.length(1);
    const release = await holdLock(join(setup.host.directory, 'state', 'modgate.db'), 'writing');
    try {
      expect(expectProblem((await ask()).response, 503).code).to.equal('unavailable');
    } finally {
      await release();
    }
    expect(setup.provider.requests).to.have.length(1);
    expect((await ask()).response.status).to.equal(200);
  });
});
