import { expect } from 'chai';
import type { Log } from '../../core/contract/index.js';
import { waitUntil } from '../support/http/wait-until.js';
import { BACKENDS, type Backend } from './backend.js';
import { DRAFT, write } from './drafts.js';

// What another host wrote is known after this (issue "console bridge", point 5).
const DEADLINE_MS = 10_000;

for (const { name, create, require } of BACKENDS) {
  describe(`changes of the config on ${name}`, () => {
    let backend: Backend;
    before(async function () {
      await require(this);
    });
    beforeEach(() => {
      backend = create();
    });
    afterEach(() => backend.dispose());

    it('are told at once by the store that wrote, until it is stopped', async () => {
      const store = await backend.open();
      const told: (string | null)[] = [];
      const stop = store.onConfigChange((module) => told.push(module));
      await write(store, 'a', 1);
      await write(store, 'a', 1, { module: 'acme/crm' });
      expect(told).to.deep.equal(['crm', 'acme/crm']);
      stop();
      await write(store, 'a', 2);
      expect(told).to.have.length(2);
    });

    it('are told by other stores within a second', async () => {
      const [writer, reader] = [await backend.open(), await backend.open()];
      const told: (string | null)[] = [];
      reader.onConfigChange((module) => told.push(module));
      await write(writer, 'a', 1);
      await waitUntil('the change is told', () => told.includes('crm'), DEADLINE_MS);
      await write(writer, 'a', 2, { module: 'acme/crm' });
      await waitUntil('the next is told', () => told.includes('acme/crm'), DEADLINE_MS);
      expect(told).to.deep.equal(['crm', 'acme/crm']);
    });

    it('are not told of failed writes, of audit rows and of generated values', async () => {
      const [writer, reader] = [await backend.open(), await backend.open()];
      const told: (string | null)[] = [];
      for (const store of [writer, reader]) store.onConfigChange((module) => told.push(module));
      await writer.appendAudit(DRAFT);
      await writer.ensureGenerated({ module: 'generated', service: 'crm', key: 'g', bytes: 8 });
      const { query } = await backend.openDatabase();
      await query.updateTable('audit_head').set({ id: 0 }).execute();
      await write(writer, 'a', 1, { module: 'failed' }).catch(() => {});
      await query.updateTable('audit_head').set({ id: 1 }).execute();
      await write(writer, 'last', 1, { module: 'last' });
      await waitUntil('both tell of the last', () => told.length >= 2, DEADLINE_MS);
      expect(new Set(told)).to.deep.equal(new Set(['last']));
    });

    it('reach the other listeners when one fails', async () => {
      const errors: string[] = [];
      const log: Log = {
        debug() {},
        info() {},
        warn() {},
        error: (_fields, message) => errors.push(message),
      };
      const store = await backend.open(undefined, log);
      const told: (string | null)[] = [];
      store.onConfigChange(() => {
        throw new Error('broken');
      });
      store.onConfigChange((module) => told.push(module));
      await write(store, 'a', 1);
      expect(told).to.deep.equal(['crm']);
      expect(errors).to.deep.equal(['a listener for changes of the config failed']);
    });
  });
}
