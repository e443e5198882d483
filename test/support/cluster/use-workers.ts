import { type EchoProvider, startEchoProvider } from '../echo-provider.js';
import { describeModule } from '../http/modules.js';
import { type HostOptions, type RunningHost, startHost } from '../start-host.js';

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];

/** A route of `shop.json`. */
export const ITEM = '/modules/shop/http/items/1';

export interface Workers {
  readonly provider: EchoProvider;
  /** The one that was started last. @throws before there is one. */
  readonly host: RunningHost;
  /** Starts a host with two workers, and `shop.json` where the options name no files. */
  start(options?: HostOptions): Promise<RunningHost>;
}

/** One provider for all tests of a `describe`, and a host of its own for each. */
export function useWorkers(): Workers {
  let provider: EchoProvider;
  let host: RunningHost | undefined;

  before(async () => {
    provider = await startEchoProvider();
  });
  afterEach(async () => {
    await host?.kill();
    host = undefined;
    provider.reset();
  });
  after(() => provider.close());

  return {
    get provider() {
      return provider;
    },
    get host() {
      if (host === undefined) throw new Error('used before it was started');
      return host;
    },
    start: async (options = {}) => {
      host = await startHost({
        files: { 'shop.json': describeModule('shop', provider.url, ROUTES) },
        ...options,
        args: ['--workers', '2', ...(options.args ?? [])],
      });
      return host;
    },
  };
}
