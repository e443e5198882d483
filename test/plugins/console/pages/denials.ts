import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { CRM_MANIFEST, describeCrm } from '../../../support/console/shop-modules.js';
import { type ConsoleSetup, OPERATOR, untilLoaded } from '../../../support/console/use-console.js';

export function describeDenials(setup: ConsoleSetup): void {
  const steps = (page: Page) => page.getByRole('list').filter({ hasText: 'actor' });

  describe('a decision', () => {
    it('is one click away from each route, also with parameters', async () => {
      const page = await setup.open('/console/modules/crm?tab=Routes');
      for (const [path, outcome] of [
        ['/contacts/{id}', /capability\s+allow/],
        ['/files/{path...}', /capability\s+deny/],
      ] as const) {
        await page.goto(`${setup.host.url}/console/modules/crm?tab=Routes`);
        const row = page.getByRole('row').filter({ hasText: path });
        await row.getByRole('link', { name: 'Explain' }).click();
        await page.getByText('Step by step').waitFor();
        expect(await steps(page).innerText()).to.match(outcome);
      }
    });

    it('is one click away from a call, for the caller of another token too', async () => {
      const response = await fetch(`${setup.host.url}/modules/crm/http/contacts`, {
        headers: { authorization: 'Bearer dev-service:job' },
      });
      expect(response.status).to.equal(403);
      const page = await setup.open('/console/calls?status=403');
      await page.getByRole('button', { name: 'GET /contacts' }).first().click();
      await page.getByRole('link', { name: 'Explain this call' }).click();
      // The page shows the decision for the actor of the call beside the one of today.
      for (const name of ['Decided then', 'Decided now']) {
        const list = page.getByRole('list', { name });
        await list.waitFor();
        expect(await list.innerText(), name).to.match(/capability\s+deny/);
      }
      expect(await page.getByRole('list', { name: 'Decided now' }).innerText()).to.include(
        'service:job',
      );
      await page.getByLabel('As whom').fill('dev-service:job:crm.read');
      await page.getByRole('button', { name: 'Explain', exact: true }).click();
      const ofJob = page.getByRole('list').filter({ hasText: /capability\s+allow/ });
      await ofJob.waitFor();
      expect(await ofJob.innerText()).to.include('service:job');
    });

    it('is not asked with a token that no header can hold', async () => {
      const page = await setup.open('/console/explain');
      await page.getByLabel('As whom').fill('\u201ctoken\u201d');
      await page.getByRole('button', { name: 'Explain', exact: true }).click();
      await page.getByRole('alert').getByText('characters beyond ASCII').waitFor();
    });

    it('finds a call that reached no module, by its request id', async () => {
      const response = await fetch(`${setup.host.url}/modules/cmr/http/contacts`, {
        headers: { authorization: 'Bearer dev-service:job', 'x-request-id': 'lost-1' },
      });
      expect(response.status).to.equal(404);
      const page = await setup.open('/console/calls');
      await page.getByLabel('Request ID').fill('lost-1');
      await page.getByLabel('Request ID').press('Enter');
      const button = page.getByRole('button', { name: 'GET /modules/cmr/http/contacts' });
      await button.click();
      await page.getByText('named', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Explain this call' }).click();
      const then = page.getByRole('list', { name: 'Decided then' });
      await then.waitFor();
      expect(await then.innerText()).to.match(/module\s+deny[\s\S]*add a descriptor for cmr/);
    });

    it('is one click away from a 403 of the bridge', async () => {
      const page = await setup.open('/console/modules/crm?tab=Data', {
        prepare: (page) => withoutEvents(page),
      });
      await page.getByRole('cell', { name: 'Contact 0', exact: true }).waitFor();
      // The page does not notice that the release has changed.
      const manifest = { inline: { ...CRM_MANIFEST, version: '2.0.0' } };
      setup.drop('crm.json', describeCrm(setup.provider.url, { manifest }));
      const denied = page.getByRole('alert').filter({ hasText: 'forbidden' });
      await untilShown(page, 'Read again', denied);
      await denied.getByRole('link', { name: 'Explain this decision' }).click();
      await page.getByText('Step by step').waitFor();
      setup.drop('crm.json', describeCrm(setup.provider.url));
      const restored = await setup.open('/console/modules/crm');
      await restored.getByText('version 1.4.0').waitFor();
    });

    it('is shown at once for a shared URL', async () => {
      const target = '/modules/crm/http/contacts';
      const page = await setup.open(`/console/explain?method=GET&target=${target}`);
      await page.getByText('Step by step').waitFor();
      expect(await steps(page).innerText()).to.match(/capability\s+allow/);
    });
  });

  it('follows a release that changes under an open page', async () => {
    const page = await setup.open('/console/modules/crm?tab=Actions&action=refresh');
    await page.getByText('version 1.4.0').waitFor();
    const manifest = { inline: { ...CRM_MANIFEST, version: '3.0.0' } };
    setup.drop('crm.json', describeCrm(setup.provider.url, { manifest }));
    await page.getByText('version 3.0.0').waitFor();
    await page.getByRole('button', { name: 'Refresh the index' }).click();
    await page.getByText('"done": "refresh"').waitFor();
    setup.drop('crm.json', describeCrm(setup.provider.url));
    await page.getByText('version 1.4.0').waitFor();
  });

  it('disables what the actor may not do, and names the scope', async () => {
    const reader = OPERATOR.replace('console.admin,', '').replace(',crm.write', '');
    const page = await setup.open('/console/modules/crm?tab=Actions', { token: reader });
    await page.getByText('Not available: needs the scope crm.write.').first().waitFor();
    for (const name of ['Open Refresh the index', 'Open Merge two contacts', 'Open Break']) {
      const button = page.getByRole('button', { name, exact: true });
      expect(await button.isDisabled(), name).to.equal(true);
    }
  });

  it('shows the configuration to a caller who may only read it, without controls', async () => {
    const reader = OPERATOR.replace('console.admin,', '');
    const page = await setup.open('/console/modules/crm?tab=Configuration', { token: reader });
    await page.getByText('Values cannot be written: needs the scope crm.config.').waitFor();
    await page.getByText('hello', { exact: true }).waitFor();
    const controls = page.locator('main').locator('input, select, textarea');
    expect(await controls.count()).to.equal(0);
  });

  it('shows no configuration to a caller who holds other capabilities of the module', async () => {
    const writer = OPERATOR.replace('console.admin,', '').replace(',crm.read', '');
    const page = await setup.open('/console/modules/crm?tab=Configuration', { token: writer });
    const empty = page.getByText('needs the scope crm.read', { exact: true });
    await empty.waitFor();
    expect(await page.getByText('page_size').count()).to.equal(0);
  });

  it('shows the missing scope on every page of modules, for a caller without scopes', async () => {
    for (const path of ['', '/modules', '/modules/crm?tab=Data']) {
      const page = await setup.open(`/console${path}`, { token: 'dev-user:bob' });
      const denied = page.getByRole('alert').filter({ hasText: 'modgate.modules.read' }).first();
      await denied.getByText('403').waitFor();
      await untilLoaded(page);
    }
  });

  it('shows a 403 of a page with its scope', async () => {
    const page = await setup.open('/console/audit', { token: 'dev-user:bob:modgate.explain' });
    const denied = page.getByRole('alert').filter({ hasText: 'modgate.audit.read' });
    await denied.getByText('403').waitFor();
    await denied.getByText(/request req_/).waitFor();
  });
}

/** Presses the button until the other element appears: the host reads the file in its own time. */
async function untilShown(page: Page, button: string, expected: ReturnType<Page['getByRole']>) {
  const deadline = Date.now() + 20_000;
  while ((await expected.count()) === 0) {
    if (Date.now() > deadline) throw new Error(`'${button}' changed nothing`);
    const answered = page.waitForResponse(/console-bridge/);
    await page.getByRole('button', { name: button }).click();
    await answered;
  }
}

/** The page gets no events. */
async function withoutEvents(page: Page): Promise<void> {
  await page.route('**/console/api/events*', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: 'retry: 600000\nevent: hello\ndata: {"boot":"1"}\n\n',
    }),
  );
}
