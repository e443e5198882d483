import { expect } from 'chai';
import type { ConfigField } from '../../core/contract/index.js';
import { createSurfaceRecords } from '../../core/http/surfaces/surface-records.js';
import type { Database } from '../../core/store/database.js';
import { openSqlite } from '../../core/store/sqlite-database.js';
import type { Tables } from '../../core/store/tables.js';
import { configDescriptor, readDeliveries } from '../support/bridge/config.js';
import { startEchoProvider } from '../support/echo-provider.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CODE_PUBLISHER, sendRelease } from '../support/releases.js';
import { startHost } from '../support/start-host.js';
import { openStore } from '../support/store/open-store.js';
import { createFolder } from '../support/temporary-folder.js';
import { useEach } from '../support/use.js';
import { silent } from './backend.js';

/** No error may quote it. */
const DAMAGED = 'a secret, once quoted';

describe('text of the store that is not JSON', () => {
  const database = async (
    state: string,
    change: (query: Database['query']) => Promise<unknown>,
  ) => {
    const opened = await openSqlite(state, () => {});
    await change(opened.query).finally(() => opened.close());
  };

  describe('in a config value', () => {
    const createField = (key: string): ConfigField => {
      return { service: 'conf', key, type: { kind: 'string' }, generated: { bytes: 16 } };
    };
    const provider = useEach(startEchoProvider);

    it('is named, and the other values are generated and delivered', async () => {
      const state = createFolder();
      const start = (...keys: string[]) => {
        const files = { 'conf.json': configDescriptor(provider.url, keys.map(createField)) };
        return startHost({ files, args: ['--state', state] });
      };
      const isDelivered = (key: string) => () =>
        readDeliveries(provider).at(-1)?.values[`conf/${key}`] !== undefined;
      const first = await start('made');
      await waitUntil('the first value', isDelivered('made'));
      await first.stop();
      await database(state, (query) =>
        query.updateTable('config_value').set({ value: DAMAGED }).execute(),
      );
      const second = await start('made', 'other');
      try {
        await waitUntil('the other value', isDelivered('other'));
        expect(readDeliveries(provider).at(-1)?.values).to.not.have.property('conf/made');
        const message = "the value of 'conf/made' of module 'conf' is not JSON";
        await waitUntil('the line', () => second.logs().some(({ reason }) => reason === message));
        expect(second.output()).to.not.include(DAMAGED.slice(0, 8));
      } finally {
        await second.stop();
      }
    });
  });

  describe('elsewhere', () => {
    let state = '';
    const host = useEach(() => {
      state = createFolder();
      const args = ['--modules', 'store:', '--state', state];
      return startHost({ args });
    });

    const APPROVAL: Tables['approval'] = {
      ...{ id: 'apr_1', kind: 'call', status: 'pending', module: 'shop', operation: 'add' },
      ...{ actor_kind: 'service', actor_id: 'agent', binding: 'a', content: DAMAGED },
      ...{ requested_at: '2026-01-01T00:00:00.000Z', expires_at: '2999-01-01T00:00:00.000Z' },
      ...{ decided_at: null, decider_kind: null, decider_id: null, reason: null, version: '1' },
    };
    const changes: Readonly<
      Record<string, readonly [string, (query: Database['query']) => Promise<unknown>]>
    > = {
      'the verdict of a release': [
        '/releases',
        (query) => query.updateTable('release').set({ verdict: DAMAGED }).execute(),
      ],
      'the canary of a fleet': [
        '/releases',
        (query) => query.updateTable('release_state').set({ canary: DAMAGED }).execute(),
      ],
      'the report of a host': [
        '/releases',
        (query) =>
          query
            .insertInto('release_host')
            .values({ fleet: '', host: 'x', figures: DAMAGED, release: null, problem: null })
            .execute(),
      ],
      'the content of an approval': [
        '/approvals',
        (query) => query.insertInto('approval').values(APPROVAL).execute(),
      ],
    };
    for (const [title, [target, change]] of Object.entries(changes)) {
      it(`is named without what it says: ${title}`, async () => {
        const { status } = await sendRelease(host, { 'a.txt': '' }, {}, CODE_PUBLISHER);
        expect(status).to.equal(200);
        await database(state, change);
        const { status: read } = await call(host, { target });
        expect(read).to.equal(503);
        await waitUntil('the line', () => host.output().includes(' is not JSON'));
        expect(host.output()).to.not.include(DAMAGED.slice(0, 8));
      });
    }

    it('is named without what it says: the record of a surface', async () => {
      const lines: object[] = [];
      const log = { ...silent, warn: (line: object) => lines.push(line) };
      const store = await openStore({ url: null, stateDir: state, keys: null, log });
      try {
        const reason = "the record 'key' is not JSON";
        const records = createSurfaceRecords(store, 'test');
        await records.set('key', 1, { expiresAt: Date.now() + 60_000 });
        await database(state, (query) =>
          query.updateTable('surface_record').set({ value: DAMAGED }).execute(),
        );
        for (const reading of [records.get('key'), records.list()]) {
          const error = await reading.then(
            () => null,
            (thrown: Error) => thrown,
          );
          expect(error).to.have.property('code', 'unavailable');
          expect(error?.cause).to.have.property('message', reason);
        }
        expect(lines).to.deep.equal([{ code: 'unreadable', reason }]);
        await records.set('key', 2, { expiresAt: Date.now() + 60_000 });
        expect(await records.get('key')).to.have.property('value', 2);
      } finally {
        await store.close();
      }
    });
  });
});
