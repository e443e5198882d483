import { expect } from 'chai';
import { findAccessibilityViolations } from '../../../support/browser/find-violations.js';
import { type ConsoleSetup, OPERATOR, untilLoaded } from '../../../support/console/use-console.js';
import { call } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../../support/provider.js';

const NARROW = { width: 360, height: 800 };
const TAB = '/console/modules/copied?tab=Candidate';
const GET_ORDER = 'GET /orders/{id}';
const ROUTES = [
  { method: 'GET', path: '/orders', capability: 'crm.read' },
  { method: 'GET', path: '/orders/{id}', capability: 'crm.read' },
  { method: 'GET', path: '/never', capability: 'crm.read' },
];

export function describeCandidate(setup: ConsoleSetup): void {
  describe('the candidate of a module', () => {
    let live: ScriptedProvider;
    let candidate: ScriptedProvider;

    before(async () => {
      live = await startProvider(answerJson({ total: 1, lines: [{ sku: 'a' }] }));
      candidate = await startProvider((request, response) => {
        if (request.url === '/orders')
          return answerJson({ total: 1, lines: [{ sku: 'a' }] })(request, response);
        if (request.url === '/orders/broken') return void response.end('<html>');
        response.statusCode = 201;
        answerJson({ total: '1', lines: [{}], more: true })(request, response);
      });
      const more = { candidate: { endpoints: [candidate.url], share: 1 } };
      setup.drop('copied.json', describeModule('copied', live.url, ROUTES, more));
    });
    after(async () => {
      setup.drop('copied.json', null);
      await live?.stop();
      await candidate?.stop();
    });

    const token = `${OPERATOR},modgate.candidate.read`;
    const send = (path: string) =>
      call(setup.host, { target: `/modules/copied/http${path}`, as: OPERATOR });
    const row = (page: Awaited<ReturnType<ConsoleSetup['open']>>, ...texts: string[]) => {
      const rows = page.getByRole('row');
      return texts.reduce((locator, hasText) => locator.filter({ hasText }), rows);
    };

    it('is shown by route with shares and what differs, and follows new calls', async () => {
      const page = await setup.open(TAB, { token, viewport: NARROW });
      await page.getByText(`Copies of calls are sent to ${candidate.url}`).waitFor();
      await page.getByText('No copies yet').waitFor();
      const results = (name: string) => page.getByRole('row', { name, exact: true }).waitFor();
      await send('/orders');
      await send('/orders/1');
      await send('/orders/2');
      await results(
        `${GET_ORDER} 0 2 0 0 100 % 0 % ${GET_ORDER}: 100 % of the latest differ, 0 % fail`,
      );
      // The page has shown the others: this call is an interval of its own.
      await send('/orders/broken');
      await results(
        `${GET_ORDER} 0 2 1 0 67 % 33 % ${GET_ORDER}: 0 % of the latest differ, 100 % fail`,
      );
      await row(page, 'GET /orders', '0 %').first().waitFor();
      await row(page, GET_ORDER, 'status 200', 'status 201', '2').waitFor();
      await row(page, '/lines/0/sku', 'missing in the candidate').waitFor();
      await row(page, '/more', 'only in the candidate').waitFor();
      await row(page, '/total', 'another type').waitFor();
      expect(await row(page, '/never').count()).to.equal(0);
      expect(await findAccessibilityViolations(page)).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(
        NARROW.width,
      );
      await row(page, '/more').getByRole('link').click();
      await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
      await row(page, GET_ORDER, '200').waitFor();
    });

    it('needs its scope', async () => {
      const page = await setup.open(TAB);
      await page.getByText('They need the scope modgate.candidate.read.').waitFor();
    });

    it('is absent from a module without one', async () => {
      const page = await setup.open('/console/modules/crm');
      await untilLoaded(page);
      await page.getByRole('link', { name: 'Endpoints' }).waitFor();
      expect(await page.getByRole('link', { name: 'Candidate' }).count()).to.equal(0);
    });
  });

  it('shows when endpoints were found by DNS, and why that failed', async () => {
    const config = {
      endpoints: [{ dns: 'crm.test', port: 80 }],
      // The port of the discard protocol, where nothing listens.
      resolver: { servers: ['127.0.0.1:9'] },
    };
    const provider = { kind: 'http', config };
    setup.drop('moving.json', describeModule('moving', '', ROUTES, { provider }));
    const page = await setup.open('/console/modules/moving?tab=Endpoints');
    await page.getByText('Found by DNS: no name was resolved yet').waitFor();
    await page.getByText(/^DNS E[A-Z]+ crm\.test$/).waitFor();
    setup.drop('moving.json', null);
  });
}
