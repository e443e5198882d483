import { expect } from 'chai';
import type { ConsoleSetup } from '../../../support/console/use-console.js';
import { describeModule, toRoutes } from '../../../support/http/modules.js';

export function describeOverview(setup: ConsoleSetup): void {
  describe('the overview', () => {
    before(() => {
      const health = { path: '/health', interval_ms: 100, timeout_ms: 1000, failures: 1 };
      const ill = describeModule('ill', 'http://127.0.0.1:9', toRoutes(['GET /items'], 'ill.read'));
      const config = { endpoints: ['http://127.0.0.1:9'], health };
      setup.drop('ill.json', { ...ill, provider: { kind: 'http', config } });
    });

    after(() => setup.drop('ill.json', null));

    it('names modules whose endpoint is down', async () => {
      const page = await setup.open('/console');
      await page.getByText('1 with an endpoint down').waitFor();
      const entry = page.getByRole('listitem').filter({ hasText: 'is down' });
      await entry.waitFor();
      expect(await entry.innerText()).to.match(/ill\s+live[\s\S]*http:\/\/127\.0\.0\.1:9 is down/);
    });
  });
}
