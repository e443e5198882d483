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
      await page.getByText('Step by step').waitFor();
      await page.getByLabel('As whom').fill('dev-service:job');
      await page.getByRole('button', { name: 'Explain', exact: true }).click();
      const ofJob = steps(page).filter({ hasText: 'service:job' });
      await ofJob.waitFor();
      expect(await ofJob.innerText()).to.match(/capability\s+deny/);
    });

    it('is one click away from a 403 of the bridge', async () => {
      const page = await setup.open('/console/modules/crm?tab=Data', {
        prepare: (one) => withoutEvents(one),
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
    const buttons = page.getByRole('button', { name: 'Open', exact: true });
    for (const one of await buttons.all()) expect(await one.isDisabled()).to.equal(true);
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
async function untilShown(page: Page, button: string, shown: ReturnType<Page['getByRole']>) {
  const deadline = Date.now() + 20_000;
  while ((await shown.count()) === 0) {
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
