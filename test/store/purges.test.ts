import { expect } from 'chai';
import type { Purge } from '../../core/operations/cache/entry-index.js';
import { sharePurges } from '../../core/operations/cache/purge-channel.js';
import { StorePurges } from '../../core/operations/cache/store-purges.js';
import type { Store } from '../../core/store/store.js';
import { waitUntil } from '../support/http/wait-until.js';
import { BACKENDS, runSql, useBackend } from './backend.js';

const ofPath = (path: string): Purge => ({ module: 'shop', path, isPrefix: false });

/** The channel of one process, and what it received. */
function openChannel(store: Pick<Store, 'sendNotice' | 'onNotice'>) {
  const received: (Purge | null)[] = [];
  const channel = new StorePurges(store, sharePurges({ channel: () => () => {} }));
  channel.onPurge((purge) => received.push(purge));
  return { announce: (purge: Purge) => channel.announce(purge), received };
}

for (const kind of BACKENDS.filter(({ name }) => name === 'PostgreSQL')) {
  describe('purges over a store on PostgreSQL', () => {
    const backend = useBackend(kind);
    const openTwo = async () => {
      const stores = [await backend.open(), await backend.open()] as const;
      for (const store of stores) await store.config.read('shop');
      return stores.map(openChannel) as [
        ReturnType<typeof openChannel>,
        ReturnType<typeof openChannel>,
      ];
    };

    it('reach the other processes, and not the one that announced them', async () => {
      const [first, other] = await openTwo();
      const purge = { module: 'shop', path: '/ä b', isPrefix: true };
      first.announce(purge);
      await waitUntil('the purge', () => other.received.length > 0);
      expect(other.received).to.deep.equal([purge]);
      other.announce({ module: 'crm', path: null, isPrefix: false });
      await waitUntil('the next', () => first.received.length > 0);
      expect(first.received).to.deep.equal([{ module: 'crm', path: null, isPrefix: false }]);
    });

    it('are as many as fit into a notice, and a long path purges its module', async () => {
      const [first, other] = await openTwo();
      const purges = Array.from({ length: 200 }, (_, index) =>
        ofPath(`/${'x'.repeat(100)}/${index}`),
      );
      for (const purge of purges) first.announce(purge);
      first.announce({ module: 'long', path: `/${'x'.repeat(10_000)}`, isPrefix: false });
      await waitUntil('all purges', () => other.received.length > 200);
      const whole = { module: 'long', path: null, isPrefix: false };
      expect(other.received).to.deep.equal([...purges, whole]);
    });

    it('count as lost while the connection is lost', async () => {
      const [first, other] = await openTwo();
      const schema = new URL(backend.url ?? '').searchParams.get('schema');
      await runSql(
        `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query like '%${schema}%'`,
      );
      await waitUntil('both connect again', () => {
        const gaps = [first, other].map(({ received }) => received.includes(null));
        return gaps.every((isGap) => isGap);
      });
      first.announce(ofPath('/after'));
      await waitUntil('a purge', () => other.received.at(-1) !== null);
      expect(other.received.at(-1)).to.deep.equal(ofPath('/after'));
    });
  });
}

describe('purges over a store that is unavailable', () => {
  it('are sent once it is available again', async () => {
    const sent: string[] = [];
    let isAvailable = false;
    const { announce } = openChannel({
      sendNotice: async (notice) => {
        if (!isAvailable) {
          isAvailable = true;
          throw new Error('unavailable');
        }
        sent.push(notice);
      },
      onNotice: () => {},
    });
    announce(ofPath('/a'));
    await waitUntil('the purge', () => sent.length > 0);
    expect(sent).to.deep.equal([`purge ${JSON.stringify([ofPath('/a')])}`]);
  });

  it('mark everything as outdated if they cannot be read', () => {
    let deliver = (_notice: string | null) => {};
    const { received } = openChannel({
      sendNotice: async () => {},
      onNotice: (listener) => {
        deliver = listener;
      },
    });
    for (const notice of ['purge [{}]', 'purge x', null, 'other [{}]']) deliver(notice);
    expect(received).to.deep.equal([null, null, null]);
  });
});
