import { expect } from 'chai';
import { type EchoProvider, startEchoProvider } from '../echo-provider.js';
import { type HostOptions, type RunningHost, startHost } from '../start-host.js';

interface Setup {
  /** @throws before the hooks have run. */
  readonly host: RunningHost;
  readonly provider: EchoProvider;
}

/**
 * Starts one host and one provider for all tests of a `describe`. The provider is reset after each test.
 * Also checks that the host exits with 0.
 */
export function useHost(
  files: (provider: EchoProvider) => Readonly<Record<string, string | object>>,
  options: Omit<HostOptions, 'files'> = {},
): Setup {
  let host: RunningHost | undefined;
  let provider: EchoProvider | undefined;

  before(async () => {
    provider = await startEchoProvider();
    host = await startHost({ ...options, files: files(provider) });
  });

  beforeEach(() => provider?.reset());

  after(async () => {
    const exit = await host?.stop();
    await provider?.close();
    if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  return {
    get host() {
      return started(host);
    },
    get provider() {
      return started(provider);
    },
  };
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('used before it was started');
  return value;
}
