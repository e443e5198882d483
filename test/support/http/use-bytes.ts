import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type RunningHost, startHost } from '../start-host.js';
import { started } from '../started.js';
import { type StreamingProvider, startStreamingProvider } from '../streaming-provider.js';
import { ROOT } from './call.js';
import { describeModule } from './modules.js';

const BYTES = { response: 'bytes' };
const ROUTES = [
  { method: 'GET', path: '/files/{rest...}', capability: 'files.read', operation: BYTES },
  {
    method: 'POST',
    path: '/files/{rest...}',
    capability: 'files.write',
    operation: { body: 'bytes' },
  },
  {
    method: 'PUT',
    path: '/files/{rest...}',
    capability: 'files.write',
    operation: { body: 'bytes', ...BYTES },
  },
  {
    method: 'GET',
    path: '/images/{id}',
    capability: 'files.read',
    operation: {
      ...BYTES,
      response_types: ['image/*', 'application/pdf'],
      response_max_bytes: 100,
    },
  },
  {
    method: 'POST',
    path: '/images',
    capability: 'files.write',
    operation: {
      body: 'bytes',
      body_types: ['image/*', 'multipart/form-data'],
      body_max_bytes: 1000,
    },
  },
];

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface BytesSetup {
  readonly host: RunningHost;
  readonly provider: StreamingProvider;
  /** What the provider does with the next requests. */
  answer(listener: Answer): void;
  /** Calls a path of a module: `files` in the envelope's mode, `raw`, `quick` with short limits. */
  fetch(module: string, path: string, init?: RequestInit & { duplex?: 'half' }): Promise<Response>;
  /** The newest record of a call. */
  lastCall(): Promise<Record<string, unknown>>;
}

/** A host with routes of bytes in both modes, and a provider that each test scripts. */
export function useBytes(): BytesSetup {
  let host: RunningHost | undefined;
  let provider: StreamingProvider | undefined;
  let listener: RequestListener = () => {};

  before(async () => {
    provider = await startStreamingProvider((request, response) => listener(request, response));
    const { url } = provider;
    const describe = (name: string, more: object) => describeModule(name, url, ROUTES, more);
    const limits = { body_idle_ms: 300, timeout_ms: 300 };
    host = await startHost({
      files: {
        'files.json': describe('files', { responses: { expose_headers: ['x-pages', 'etag'] } }),
        'raw.json': describe('raw', { responses: { mode: 'raw' } }),
        'quick.json': describe('quick', { limits }),
        'small.json': describe('small', { limits: { bytes: { request: 64, response: 64 } } }),
      },
    });
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
