import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { describeModule, toRoutes } from '../../support/http/modules.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { slowness } from '../../support/slowness.js';

const FILES = 100;
/** From the last write of a file until its module serves. Milliseconds. */
const MAX_MS = 3000;
/** Routes of a manifest that is parsed in a thread. */
const LARGE = 2000;
const ROUNDS = 2;

interface Listed {
  readonly modules: readonly { readonly name: string; readonly state: string }[];
}

describe(`${FILES} files that are dropped at once`, () => {
  const setup = useHostProcess(() => ({}));

  const listLive = async () => {
    const { body } = await call(setup.host, {
      target: '/modules',
      as: 'dev-service:test:modgate.modules.read',
    });
    const { modules } = JSON.parse(body.toString()) as Listed;
    return modules.filter(({ state }) => state === 'live').map(({ name }) => name);
  };

  for (let round = 1; round <= ROUNDS; round += 1) {
    it(`serve within ${MAX_MS} ms of their last write each, time ${round}`, async () => {
      const writtenAt = new Map<string, number>();
      const servedAfter = new Map<string, number>();
      for (let index = 0; index < FILES; index += 1) {
        const name = `m${round}-${index}`;
        // A large file does not delay small ones.
        const count = index % 50 === 0 ? LARGE : 1;
        const routes = Array.from({ length: count }, (_, route) => `GET /items-${route}`);
        const url = setup.provider.url;
        setup.host.drop(`${name}.json`, describeModule(name, url, toRoutes(routes, 'shop.read')));
        writtenAt.set(name, performance.now());
      }
      await waitUntil(
        'all modules',
        async () => {
          const live = await listLive();
          for (const name of live) {
            const at = writtenAt.get(name);
            if (at !== undefined && !servedAfter.has(name))
              servedAfter.set(name, performance.now() - at);
          }
          return servedAfter.size === FILES;
        },
        60_000,
      );
      const longest = Math.max(...servedAfter.values());
      console.log(`      ${longest.toFixed(0)} ms`);
      expect(longest).to.be.at.most(MAX_MS * slowness());
    });
  }
});
