import { expect } from 'chai';
import { runSql } from '../../store/backend.js';
import { useBrowser } from '../../support/browser/browser.js';
import { findAccessibilityViolations } from '../../support/browser/find-violations.js';
import { OPS, signIn } from '../../support/console/console-client.js';
import { untilLoaded } from '../../support/console/use-console.js';
import { useFleet } from '../../support/fleet.js';
import { describeModule } from '../../support/http/modules.js';
import type { HostProcess } from '../../support/start-host.js';

const CRM = describeModule('crm', 'http://127.0.0.1:1', [
  { method: 'GET', path: '/items', capability: 'crm.read' },
]);
const BROKEN = 'module: crm\nprovider: { kind: http, confg: {} }\n';
const SHORT_DIGEST = 12;
const MARKUP = '<img src=x onerror=alert(1)>';
const ESCAPES = '\u001b[2J';

describe('the fleet in the console', () => {
  const browser = useBrowser();
  const fleet = useFleet();

  const open = async (host: HostProcess, path: string) => {
    const watched = await browser.open(host.url + path, { cookie: await signIn(host, OPS) });
    await untilLoaded(watched.page);
    return watched;
  };

  it('shows which host serves what, rejects what, and in which version', async () => {
    const first = await fleet.start({ files: { 'crm.json': CRM } });
    const second = await fleet.start({ files: { 'crm.json': CRM } });
    await fleet.until(first, 'two hosts', ({ agreed, hosts }) => {
      return agreed && hosts.filter(({ state }) => state === 'ready').length === 2;
    });
    const { page, violations, close } = await open(first, '/console');
    await page.getByText('All hosts serve the same.').waitFor();
    second.drop('crm.json', BROKEN);
    const { hosts } = await fleet.until(first, 'a rejected module', (status) =>
      status.hosts.some(({ rejected }) => rejected.length > 0),
    );
    const card = page.locator('section', { has: page.getByText('Hosts of the fleet shop') });
    await card.getByRole('button', { name: 'Read again' }).click();
    await page.getByText('The hosts do not agree.').waitFor();
    const rows = await card.getByRole('row').allInnerTexts();
    for (const { id, address, version, digest, rejected } of hosts) {
      const row = rows.find((text) => text.includes(id)) ?? '';
      expect(row).to.include(address).and.to.include(version).and.to.include('ready');
      expect(row).to.include(digest.replace('sha256:', '').slice(0, SHORT_DIGEST));
      expect(row.includes('crm')).to.equal(rejected.length > 0);
    }
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
    await page.goto(`${first.url}/console/calls`);
    await page.getByText('These are the calls of one host of the fleet.').waitFor();
    await untilLoaded(page);
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
    expect(await violations()).to.deep.equal([]);
    await close();
  });

  it('shows what another program wrote into the list as text', async () => {
    const host = await fleet.start({ files: { 'crm.json': CRM } });
    await fleet.until(host, 'the host', ({ hosts: [firstHost] }) => firstHost?.state === 'ready');
    await runSql(`
      insert into ${fleet.schema}.fleet_host
      select fleet, 'host_${MARKUP}', version, 'javascript:alert(1)${ESCAPES}', '${MARKUP}', 'ready',
        1, '["${MARKUP}"]', '[]', started_at, '9999-01-01T00:00:00.000Z'
      from ${fleet.schema}.fleet_host
    `);
    const { page, violations, close } = await open(host, '/console');
    await page.getByText('The hosts do not agree.').waitFor();
    await page.getByText(MARKUP).first().waitFor();
    expect(await page.locator('img[onerror], a[href^="javascript:"]').count()).to.equal(0);
    expect(await violations()).to.deep.equal([]);
    await close();
    const { stdout } = await fleet.run(host, 'fleet');
    expect(stdout).to.include(MARKUP).and.not.to.include('\u001b');
  });
});
