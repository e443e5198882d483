import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { findAccessibilityViolations } from '../../../support/browser/find-violations.js';
import { type ConsoleSetup, untilLoaded } from '../../../support/console/use-console.js';
import { describeModule } from '../../../support/http/modules.js';
import { waitUntil } from '../../../support/http/wait-until.js';
import { callTool, listTools, problemOf } from '../../../support/mcp/mcp-call.js';

const ROUTES = [{ method: 'POST', path: '/contacts', capability: 'desk.write' }];
/** An action that a person confirms with a phrase. */
const CLOSE = {
  name: 'close',
  description: 'Closes the desk.',
  capability: 'desk.write',
  invoke_path: '/close',
  confirmation: { message: 'Close it now?', required_phrase: 'CLOSE' },
};
const AGENT = { as: 'dev-service:agent:desk.write' };
const ANN = 'dev-user:ann:modgate.approvals,modgate.modules.read';

export function describeApprovals(setup: ConsoleSetup): void {
  describe('a request for approval', () => {
    before(async () => {
      const { url } = setup.provider;
      const desk = describeModule('desk', url, ROUTES, { mcp: { expose: 'all' } });
      const { manifest } = desk as { manifest: { inline: object } };
      Object.assign(manifest.inline, { admin: { actions: [CLOSE] } });
      setup.drop('desk.json', desk);
      await waitUntil('the agent has a tool', async () => {
        return (await listTools(setup.host, AGENT)).length === 2;
      });
    });

    after(() => setup.drop('desk.json', null));

    const write = (text: string) => callTool(setup.host, 'desk_post_contacts', text, AGENT);
    const ask = async (text: string) => {
      expect(problemOf(await write(text))).to.include({ code: 'approval_required' });
    };
    const rowOf = (page: Page, status: string) =>
      page.getByRole('row').filter({ hasText: 'desk' }).filter({ hasText: status });
    const show = async (page: Page, name = 'POST /contacts') => {
      await rowOf(page, 'pending').getByRole('button', { name }).click();
      await page.getByRole('heading', { name: `${name} of desk` }).waitFor();
      return page.locator('main').innerText();
    };

    it('arrives while the page is open, without a request of the page', async () => {
      const page = await setup.open('/console/approvals', { token: ANN });
      await page.getByText('Live', { exact: true }).waitFor();
      await untilLoaded(page);
      const targets: string[] = [];
      page.on('request', (request) => targets.push(new URL(request.url()).pathname));
      await ask('{"body":{"n":1.0}}');
      await rowOf(page, 'pending').waitFor();
      expect(targets).to.deep.equal([]);
    });

    it('shows who asks, what will be sent and the time left, and is approved once', async () => {
      const page = await setup.open('/console/approvals', { token: ANN });
      const text = await show(page);
      expect(text).to.include('service:agent requests this call (medium danger).');
      expect(text).to.include('{\n  "body": {\n    "n": 1.0\n  }\n}');
      expect(text).to.include('2 members, 18 bytes');
      expect(text).to.match(/[89] min \d+ s left/);
      expect(text).to.include('No call of this operation was approved before.');
      expect(await findAccessibilityViolations(page)).to.deep.equal([]);
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await rowOf(page, 'approved').waitFor();
      expect(await page.getByRole('button', { name: 'Approve', exact: true }).count()).to.equal(0);
      const before = setup.provider.requests.length;
      expect((await write('{"body":{"n":1.0}}')).isError).to.equal(undefined);
      const [sent] = setup.provider.requests.slice(before);
      expect(sent?.body.toString()).to.equal('{"n":1.0}');
      await rowOf(page, 'used').waitFor();
    });

    it('shows what differs from the last approved call and what is hidden, and is rejected', async () => {
      const page = await setup.open('/console/approvals', { token: ANN });
      await ask('{"body":{"n":2.0,"to":"a\u202eb"}}');
      await rowOf(page, 'pending').waitFor();
      const text = await show(page);
      expect(text).to.include('contain blanks or invisible characters');
      expect(text).to.include('"n": 2.0,\n    "to": "a\\u202eb"');
      expect(await page.locator('.escape').allInnerTexts()).to.deep.equal(['\\u202e']);
      expect(text).not.to.include('\u202e');
      expect(text).to.match(/Previously approved, [\s\S]*"n": 1\.0/);
      const [now, then] = await page.locator('mark').allInnerTexts();
      expect([now, then]).to.deep.equal(['2.0,\n    "to": "a\\u202eb"', '1.0']);
      expect(await findAccessibilityViolations(page)).to.deep.equal([]);
      await page.getByLabel('Reason of a rejection').fill('the ticket is open');
      await page.getByRole('button', { name: 'Reject', exact: true }).click();
      await rowOf(page, 'rejected').waitFor();
      await page.getByText('rejected by user:ann: the ticket is open').waitFor();
      const again = await write('{"body":{"n":2.0,"to":"a\u202eb"}}');
      expect(problemOf(again)).to.include({
        code: 'approval_rejected',
        reason: 'the ticket is open',
      });
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      expect(await page.getByRole('heading', { level: 2 }).count()).to.equal(0);
    });

    it('is approved only after the end of its arguments was in view', async () => {
      const members = Array.from({ length: 200 }, (_, index) => `"m${index}":"x\\n"`);
      await ask(`{"body":{${members.join(',')},"z":"the end"}}`);
      const page = await setup.open('/console/approvals', { token: ANN });
      expect(await show(page)).to.include('Read the arguments to their end to approve.');
      const button = page.getByRole('button', { name: 'Approve', exact: true });
      await button.scrollIntoViewIfNeeded();
      expect(await button.isDisabled()).to.equal(true);
      await page.locator('pre .end').scrollIntoViewIfNeeded();
      await button.click();
      await rowOf(page, 'approved').waitFor();
      expect(await page.locator('main').innerText()).to.include('Previously approved');
    });

    it('shows the texts of the manifest, asks for the phrase, and keeps the texts afterwards', async () => {
      const result = await callTool(setup.host, 'desk_close', '{}', AGENT);
      expect(problemOf(result)).to.include({ code: 'approval_required' });
      const page = await setup.open('/console/approvals', { token: ANN });
      const text = await show(page, 'close');
      expect(text).to.include('Closes the desk.').and.to.include('Close it now?');
      expect(await findAccessibilityViolations(page)).to.deep.equal([]);
      const button = page.getByRole('button', { name: 'Approve', exact: true });
      const field = page.getByLabel('Type CLOSE to confirm');
      await field.fill('close');
      expect(await button.isDisabled()).to.equal(true);
      await field.fill('CLOSE');
      await button.click();
      await page.getByText('approved by user:ann').waitFor();
      expect(await page.locator('main').innerText()).to.include('Close it now?');
    });

    it('is not decided by a service', async () => {
      await ask('{"body":{"n":3.0}}');
      const token = 'dev-service:bot:modgate.approvals,modgate.modules.read';
      const page = await setup.open('/console/approvals', { token });
      expect(await show(page)).to.include('Only a user can decide: sign in as a person.');
      for (const name of ['Approve', 'Reject']) {
        const button = page.getByRole('button', { name, exact: true });
        expect(await button.isDisabled(), name).to.equal(true);
      }
    });
  });
}
