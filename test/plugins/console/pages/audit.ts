import { join } from 'node:path';
import { expect } from 'chai';
import Libsql from 'libsql';
import { type ConsoleSetup, untilLoaded } from '../../../support/console/use-console.js';

/** How to break the chain, how to repair it, and what the page says. */
const BREAKS: readonly (readonly [string, string, string])[] = [
  [
    "UPDATE audit_row SET actor_id = 'eve' WHERE id = 2",
    "UPDATE audit_row SET actor_id = 'ops' WHERE id = 2",
    'Row 2 has been changed: its hash does not fit its content.',
  ],
  [
    'UPDATE audit_row SET id = 1000000 WHERE id = 3',
    'UPDATE audit_row SET id = 3 WHERE id = 1000000',
    'Row 3 is missing.',
  ],
  [
    "UPDATE audit_row SET prev = 'another' WHERE id = 2",
    'UPDATE audit_row SET prev = (SELECT hash FROM audit_row WHERE id = 1) WHERE id = 2',
    'Row 2 does not continue row 1.',
  ],
];

export function describeAudit(setup: ConsoleSetup): void {
  describe('the audit', () => {
    const change = (sql: string) => {
      const database = new Libsql(join(setup.stateDirectory, 'modgate.db'));
      try {
        database.exec('PRAGMA busy_timeout = 10000');
        database.exec(sql);
      } finally {
        database.close();
      }
    };

    before(async () => {
      const page = await setup.open('/console/modules/crm?tab=Actions&action=refresh');
      for (let count = 0; count < 3; count += 1) {
        const answered = page.waitForResponse(/console-bridge/);
        await page.getByRole('button', { name: 'Refresh the index' }).click();
        expect((await answered).status()).to.equal(200);
      }
    });

    it('is verified in the browser of the reader', async () => {
      const page = await setup.open('/console/audit');
      await page.getByRole('table').waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      await untilLoaded(page);
      const requests: string[] = [];
      page.on('request', (request) => requests.push(new URL(request.url()).pathname));
      await page.getByRole('button', { name: 'Verify chain' }).click();
      await page.getByText(/\d+ rows form one chain/).waitFor();
      expect(new Set(requests)).to.deep.equal(new Set(['/console/api/audit']));
    });

    it('names the row that was changed, the one that is missing, and the one that does not fit', async () => {
      const page = await setup.open('/console/audit');
      for (const [breakIt, repair, text] of BREAKS) {
        change(breakIt);
        await page.getByRole('button', { name: 'Verify chain' }).click();
        await page.getByText(text).waitFor();
        change(repair);
      }
      await page.getByRole('button', { name: 'Verify chain' }).click();
      await page.getByText(/rows form one chain/).waitFor();
    });

    it('is shown from a time on, which is part of the address', async () => {
      const page = await setup.open('/console/audit');
      await page.getByRole('table').waitFor();
      await page.getByLabel('Since').fill('2099-01-01T12:00');
      await page.getByText('No row matches').waitFor();
      expect(new URL(page.url()).searchParams.get('since')).to.match(/^209[89]-\d\d-\d\dT/);
      await page.getByLabel('Since').fill('2026-01-01T12:00');
      await page.getByRole('table').waitFor();
    });
  });
}
