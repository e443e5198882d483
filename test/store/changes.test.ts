import { expect } from 'chai';
import type { Log } from '../../core/contract/index.js';
import { waitUntil } from '../support/http/wait-until.js';
import { BACKENDS, useBackend } from './backend.js';
import { DRAFT, write } from './drafts.js';

// The longest time until a write of another host is announced.

for (const kind of BACKENDS) {
  describe(`changes of the config on ${kind.name}`, () => {
    const backend = useBackend(kind);
    it('are announced at once by the store that wrote, until the listener is removed', async () => {
      const store = await backend.open();
      const notified: (string | null)[] = [];
      const stop = store.onConfigChange((module) => notified.push(module));
      await write(store, 'a', 1);
      await write(store, 'a', 1, { module: 'acme/crm' });
      expect(notified).to.deep.equal(['crm', 'acme/crm']);
      stop();
      await write(store, 'a', 2);
      expect(notified).to.have.length(2);
    });

    it('are announced by other stores within a second', async () => {
      const [writer, reader] = [await backend.open(), await backend.open()];
      const notified: (string | null)[] = [];
      reader.onConfigChange((module) => notified.push(module));
      await write(writer, 'a', 1);
      await waitUntil('the change is notified', () => notified.includes('crm'));
      await write(writer, 'a', 2, { module: 'acme/crm' });
      await waitUntil('the next is notified', () => notified.includes('acme/crm'));
      expect(notified).to.deep.equal(['crm', 'acme/crm']);
    });

    it('are not announced for failed writes, audit rows and generated values', async () => {
      const [writer, reader] = [await backend.open(), await backend.open()];
      const notified: (string | null)[] = [];
      for (const store of [writer, reader]) store.onConfigChange((module) => notified.push(module));
      await writer.audit.append(DRAFT);
      await writer.config.ensureGenerated({
        module: 'generated',
        service: 'crm',
        key: 'g',
        bytes: 8,
      });
      const { query } = await backend.openDatabase();
      await query.updateTable('audit_head').set({ id: 0 }).execute();
      await write(writer, 'a', 1, { module: 'failed' }).catch(() => {});
      await query.updateTable('audit_head').set({ id: 1 }).execute();
      await write(writer, 'last', 1, { module: 'last' });
      await waitUntil('the last notification', () => notified.length >= 2);
      expect(new Set(notified)).to.deep.equal(new Set(['last']));
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
      const notified: (string | null)[] = [];
      store.onConfigChange(() => {
        throw new Error('broken');
      });
      store.onConfigChange((module) => notified.push(module));
      await write(store, 'a', 1);
      expect(notified).to.deep.equal(['crm']);
      expect(errors).to.deep.equal(['config change listener failed']);
    });
  });
}
