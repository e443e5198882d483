import { type EchoProvider, startEchoProvider } from '../echo-provider.js';
import { describedHosts } from '../openapi/conformance.js';
import {
  type HostOptions,
  type HostProcess,
  type RunningHost,
  startHost,
  startHostProcess,
} from '../start-host.js';
import { use } from '../use.js';

export interface Setup<Host = RunningHost> {
  /** @throws before the hooks have run. */
  readonly host: Host;
  readonly provider: EchoProvider;
}

interface UseHostOptions extends Omit<HostOptions, 'files'> {
  /**
   * Whether each response to a `call` has to be one that the host's OpenAPI document describes. Default true.
   * Each check is a further request: `false` where requests are counted.
   */
  readonly isDescribed?: boolean;
}

export type Files = (provider: EchoProvider) => Readonly<Record<string, string | object>>;

/**
 * Starts one host and one provider for all tests of a `describe`. The provider is reset after each test.
 * Also checks that the host ends well.
 */
export function useHost(
  files: Files,
  { isDescribed = true, ...options }: UseHostOptions = {},
): Setup {
  const setup = useStarted((provider) => startHost({ ...options, files: files(provider) }));
  if (isDescribed) describedHosts.add(setup.host);
  return setup;
}

/** Works like `useHost`, with a host in a separate process. */
export function useHostProcess(
  files: Files,
  options: Omit<HostOptions, 'files'> = {},
): Setup<HostProcess> {
  return useStarted((provider) => startHostProcess({ ...options, files: files(provider) }));
}

/** Starts a provider and a host before the tests; the host must end well after them. */
export function useStarted<Host extends RunningHost>(
  start: (provider: EchoProvider) => Promise<Host>,
): Setup<Host> {
  const provider = use(startEchoProvider);
  const host = use(() => start(provider));
  beforeEach(() => provider.reset());
  return { host, provider };
}
