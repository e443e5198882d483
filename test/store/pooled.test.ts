import { expect } from 'chai';
import { waitUntil } from '../support/http/wait-until.js';
import { started } from '../support/started.js';
import { requirePgBouncer, startPgBouncer } from '../support/store/pgbouncer.js';
import { type Backend, createPostgresBackend, requirePostgres } from './backend.js';
import { readValue, write } from './drafts.js';

describe('PostgreSQL store behind a pooler that keeps no session', () => {
  let pooler: Awaited<ReturnType<typeof startPgBouncer>> | undefined;
  let backend: Backend | undefined;

  before(async function () {
    await requirePostgres(this);
    requirePgBouncer(this);
    pooler = await startPgBouncer();
    backend = createPostgresBackend(pooler.url);
  });
  after(async () => {
    await backend?.dispose();
    await pooler?.stop();
  });

  it('announces the writes of other hosts, whose notifications are lost', async () => {
    const { open } = started(backend);
    const [writer, reader] = [await open(), await open()];
    const notified: (string | null)[] = [];
    reader.onConfigChange((module) => notified.push(module));
    for (const size of [1, 2, 3]) {
      notified.length = 0;
      await write(writer, 'page_size', size);
      await waitUntil('the change is notified', () => notified.includes('crm'));
      expect(await readValue(reader, 'crm/page_size')).to.equal(size);
    }
    expect(await writer.audit.verify()).to.deep.equal({ rows: 3, brokenAt: null });
  });
});
