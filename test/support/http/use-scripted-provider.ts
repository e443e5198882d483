import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type RunningHost, startHost } from '../start-host.js';
import { type StreamingProvider, startStreamingProvider } from '../streaming-provider.js';
import { use } from '../use.js';
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
  let listener: RequestListener = () => {};
  const provider = use(() =>
    startStreamingProvider((request, response) => listener(request, response)),
  );
  const host = use(() => startHost({ files: describe(provider.url), args }));

  const authorization = `Bearer ${ROOT}`;
  return {
    host,
    provider,
    answer(next) {
      listener = next;
    },
    fetch(module, path, init = {}) {
      const headers = { authorization, ...(init.headers as Record<string, string> | undefined) };
      return fetch(`${host.url}/modules/${module}/http${path}`, { ...init, headers });
    },
    async lastCall() {
      const response = await fetch(`${host.url}/calls?limit=1`, { headers: { authorization } });
      const { calls } = (await response.json()) as { calls: Record<string, unknown>[] };
      return calls[0] ?? {};
    },
  };
}
