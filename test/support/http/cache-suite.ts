import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

type Header = readonly [name: string, value: string | number, isChecked?: false];

interface CacheRequest {
  readonly request_method?: string;
  readonly request_headers?: readonly Header[];
  readonly response_headers?: readonly Header[];
  readonly pause_after?: boolean;
  readonly disconnect?: boolean;
  readonly expected_type?: 'cached' | 'not_cached' | 'etag_validated';
}

/** A case of the public suite for caches. */
export interface CacheCase {
  readonly suite: string;
  readonly id: string;
  readonly kind: 'required' | 'optimal';
  readonly requests: readonly CacheRequest[];
}

// From dist/test/support/http: cases are data and are not compiled.
const CASES = new URL('../../../../test/corpus/cache-tests/cases.json', import.meta.url);
/** Longer than every short lifetime of the suite. */
const PAUSE_MS = 3000;
const MS_PER_SECOND = 1000;

export function readCacheCases(): readonly CacheCase[] {
  return JSON.parse(readFileSync(CASES, 'utf8')) as CacheCase[];
}

export type CacheOrigin = Awaited<ReturnType<typeof startCacheOrigin>>;

/** The origin behind the cache: it answers each request as its case says, and counts. */
export async function startCacheOrigin(cases: readonly CacheCase[]) {
  const counts = new Map<string, number>();
  const steps = new Map<string, number>();
  const byId = new Map(cases.map((cacheCase) => [cacheCase.id, cacheCase]));
  const server = createServer((request, response) => {
    const id = request.url?.split('/').at(-1) ?? '';
    const step = byId.get(id)?.requests[steps.get(id) ?? 0] ?? {};
    counts.set(id, (counts.get(id) ?? 0) + 1);
    answer(step, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    count: (id: string) => counts.get(id) ?? 0,
    /** The next request of a case: a header would be a part of the key. */
    begin: (id: string, step: number) => void steps.set(id, step),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(step: CacheRequest, request: IncomingMessage, response: ServerResponse): void {
  if (step.disconnect === true) {
    request.socket.destroy();
    return;
  }
  const headers = (step.response_headers ?? []).flatMap(([name, value]) => [
    name,
    typeof value === 'number' ? new Date(Date.now() + value * MS_PER_SECOND).toUTCString() : value,
  ]);
  request.resume();
  response.sendDate = false;
  response.writeHead(200, ['content-type', 'application/json', 'content-length', '2', ...headers]);
  response.end('{}');
}

/**
 * Sends the requests of a case.
 * @param send through the cache; resolves with the status
 * @returns whether the cache did what the case expects
 */
export async function runCacheCase(
  { id, requests }: CacheCase,
  origin: CacheOrigin,
  send: (method: string, headers: Readonly<Record<string, string>>) => Promise<number>,
): Promise<boolean> {
  for (const [step, request] of requests.entries()) {
    origin.begin(id, step);
    const before = origin.count(id);
    const headers = Object.fromEntries(
      (request.request_headers ?? []).map(([name, value]) => [name, String(value)]),
    );
    const status = await send(request.request_method ?? 'GET', headers);
    const isCalled = origin.count(id) > before;
    if (request.expected_type === 'cached' && isCalled) return false;
    if (request.expected_type !== undefined && request.expected_type !== 'cached' && !isCalled)
      return false;
    if (request.disconnect === true && status < 500) return false;
    if (request.pause_after === true && hasShortLife(requests)) await pause(PAUSE_MS);
  }
  return true;
}

function hasShortLife(requests: readonly CacheRequest[]): boolean {
  return requests.some(({ response_headers = [] }) =>
    response_headers.some(([, value]) => /max-age=[12]\b/.test(String(value))),
  );
}
