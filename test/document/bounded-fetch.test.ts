import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { FetchFailed, fetchBounded } from '../../core/document/bounded-fetch.js';
import { whileCollectingGarbage } from '../support/collect-garbage.js';
import { use } from '../support/use.js';

const SHORT_MS = 800;
const LONG_MS = 600_000;

describe('a bounded fetch from a server that never answers', () => {
  const server = use(
    async () => {
      const listening = createServer(() => {});
      await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
      return listening;
    },
    (listening) => {
      listening.closeAllConnections();
      listening.close();
    },
  );

  for (const [title, limits, reason] of [
    ['its timeout', () => ({ timeoutMs: SHORT_MS }), 'timeout'],
    [
      'the timeout of its signal',
      () => ({ timeoutMs: LONG_MS, signal: AbortSignal.timeout(SHORT_MS) }),
      'failed',
    ],
  ] as const) {
    it(`keeps ${title} through garbage collection`, async () => {
      const { port } = server.address() as AddressInfo;
      const fetching = () =>
        fetchBounded(`http://127.0.0.1:${port}`, { maxBytes: 1, ...limits() }).catch((e) => e);
      const error = await whileCollectingGarbage(fetching);
      expect(error).to.be.instanceOf(FetchFailed).with.property('reason', reason);
    });
  }
});
