import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type RunningHost, startHost } from '../start-host.js';
import { started } from '../started.js';
import { type StreamingProvider, startStreamingProvider } from '../streaming-provider.js';
import { ROOT } from './call.js';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface ScriptedHost {
  readonly host: RunningHost;
  readonly provider: StreamingProvider;
  /** The responses of the provider to the next requests. */
  answer(listener: Answer): void;
  /** Calls a path of a module. */
  fetch(module: string, path: string, init?: RequestInit & { duplex?: 'half' }): Promise<Response>;
  /** The newest record of a call. */
  lastCall(): Promise<Record<string, unknown>>;
}

/**
 * A host in front of a provider that each test scripts.
 * @param describe the files of modules, whose endpoint is the provider
 */
export function useScriptedProvider(
  describe: (url: string) => Readonly<Record<string, object>>,
  args: readonly string[] = [],
): ScriptedHost {
  let host: RunningHost | undefined;
  let provider: StreamingProvider | undefined;
  let listener: RequestListener = () => {};

  before(async () => {
    provider = await startStreamingProvider((request, response) => listener(request, response));
    host = await startHost({ files: describe(provider.url), args });
  });

  after(async () => {
    await host?.stop();
    await provider?.stop();
  });

  const authorization = `Bearer ${ROOT}`;
  return {
    get host() {
      return started(host);
    },
    get provider() {
      return started(provider);
    },
    answer(next) {
      listener = next;
    },
    fetch(module, path, init = {}) {
      const headers = { authorization, ...(init.headers as Record<string, string> | undefined) };
      return fetch(`${started(host).url}/modules/${module}/http${path}`, { ...init, headers });
    },
    async lastCall() {
      const url = `${started(host).url}/calls?limit=1`;
      const response = await fetch(url, { headers: { authorization } });
      const { calls } = (await response.json()) as { calls: Record<string, unknown>[] };
      return calls[0] ?? {};
    },
  };
}
