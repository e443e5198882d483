import { expect } from 'chai';
import type { ConsoleSetup } from '../../../support/console/use-console.js';
import { waitUntil } from '../../../support/http/wait-until.js';

/** The number of requests for the list of modules. */
const CALLS_COLUMN = 4;

export function describeRestart(setup: ConsoleSetup): void {
  const callContacts = () =>
    fetch(`${setup.host.url}/modules/crm/http/contacts`, {
      headers: { authorization: 'Bearer dev-service:job:crm.read' },
    });

  it('shows calls and counts as they happen', async () => {
    const calls = await setup.open('/console/calls?status=200');
    const module = await setup.open('/console/modules');
    await calls.getByText('Live', { exact: true }).waitFor();
    const shown = calls.getByRole('button', { name: 'GET /contacts', exact: true });
    const row = module.getByRole('row', { name: /^crm/ });
    const count = Number(await row.getByRole('cell').nth(CALLS_COLUMN).innerText());
    const before = await shown.count();
    await callContacts();
    await shown.nth(before).waitFor();
    const cell = module.getByRole('cell', { name: String(count + 1), exact: true });
    await row.filter({ has: cell }).waitFor();
  });

  it('shows a lost connection while the host restarts, and recovers without a reload', async () => {
    const page = await setup.open('/console/calls');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.evaluate('window.marker = 1');
    await setup.restart(async () => {
      await page.getByText('Connection lost, trying again').waitFor();
      await page.getByRole('link', { name: 'Plugins' }).click();
      await page.getByRole('alert').getByText('the host does not answer').waitFor();
    });
    await page.getByText('Live', { exact: true }).waitFor();
    // What could not be read is read again.
    await page.getByRole('table', { name: 'Surfaces' }).waitFor();
    await page.getByRole('link', { name: 'Calls' }).click();
    // A call between the first list and the new stream is not shown.
    await waitUntil('a call is shown', async () => {
      await callContacts();
      return (await page.getByRole('button', { name: 'GET /contacts', exact: true }).count()) > 0;
    });
    expect(await page.evaluate('window.marker')).to.equal(1);
  });
}
