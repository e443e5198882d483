import { type EchoProvider, startEchoProvider } from '../echo-provider.js';
import { describeModule } from '../http/modules.js';
import { type HostOptions, type HostProcess, startHostProcess } from '../start-host.js';
import { started } from '../started.js';
import { use } from '../use.js';

const ROUTES = [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }];

/** A route of `shop.json`. */
export const ITEM = '/modules/shop/http/items/1';

/** The module of {@link ITEM}. */
export function describeShop(url: string): object {
  return describeModule('shop', url, ROUTES);
}

interface Workers {
  readonly provider: EchoProvider;
  /** The last one started. @throws before the first start. */
  readonly host: HostProcess;
  /** Starts a host with two workers. Serves `shop.json` unless the options have files. */
  start(options?: HostOptions): Promise<HostProcess>;
}

/** One provider for all tests of a `describe`, and one host per test. */
export function useWorkers(): Workers {
  const provider = use(startEchoProvider);
  let host: HostProcess | undefined;

  afterEach(async () => {
    await host?.kill();
    host = undefined;
    provider.reset();
  });

  return {
    provider,
    get host() {
      return started(host);
    },
    start: async (options = {}) => {
      host = await startHostProcess({
        files: { 'shop.json': describeShop(provider.url) },
        ...options,
        args: ['--workers', '2', ...(options.args ?? [])],
      });
      return host;
    },
  };
}
