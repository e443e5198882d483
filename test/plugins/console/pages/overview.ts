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

    it('shows bars, legends and the current page in forced colors', async () => {
      const headers = { authorization: 'Bearer dev-service:a:crm.read' };
      await fetch(`${setup.host.url}/modules/crm/http/contacts`, { headers });
      const page = await setup.open('/console', { forcedColors: 'active' });
      await page.locator('.bar.main').first().waitFor();
      const colors = (await page.evaluate(`(() => {
        const of = (name, part) =>
          getComputedStyle(document.querySelector(name), part).backgroundColor;
        return [
          of('body'), of('.bar.main'), of('.bar.soft'), of('.latency .legend', '::before'),
          of('nav [aria-current]'), of('.connection', '::before'),
        ];
      })()`)) as string[];
      const [canvas, ...shown] = colors;
      for (const color of shown) expect(color).to.not.be.oneOf([canvas, 'rgba(0, 0, 0, 0)']);
    });

    it('opened in the background follows the host once it is shown', async () => {
      const opened: string[] = [];
      const page = await setup.open('/console', {
        prepare: async (target) => {
          target.on('request', (request) => void opened.push(request.url()));
          await target.addInitScript(
            "Object.defineProperty(document, 'hidden', { value: true, configurable: true })",
          );
        },
      });
      await page.getByText('Connecting', { exact: true }).waitFor();
      expect(opened.filter((url) => url.includes('/api/events'))).to.deep.equal([]);
      await page.evaluate(`delete document.hidden;
        document.dispatchEvent(new Event('visibilitychange'))`);
      await page.getByText('Live', { exact: true }).waitFor();
    });

    it('names modules whose endpoint is down', async () => {
      const page = await setup.open('/console');
      await page.getByText('1 with an endpoint down').waitFor();
      const entry = page.getByRole('listitem').filter({ hasText: 'is down' });
      await entry.waitFor();
      expect(await entry.innerText()).to.match(/ill\s+live[\s\S]*http:\/\/127\.0\.0\.1:9 is down/);
    });
  });
}
