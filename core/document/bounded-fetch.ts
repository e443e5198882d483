import type { RequestInit, Response } from 'node-fetch';

interface BoundedRequest
  extends Pick<RequestInit, 'method' | 'body' | 'headers' | 'redirect' | 'agent'> {
  readonly maxBytes: number;
  /** The limit for the whole response. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** The response is missing, incomplete or exceeds the limits. */
export class FetchFailed extends Error {
  override readonly name = 'FetchFailed';
  readonly reason: 'timeout' | 'max-size' | 'failed';

  constructor(reason: FetchFailed['reason'], cause: unknown) {
    super(`fetch: ${reason}`, { cause });
    this.reason = reason;
  }
}

/**
 * Sends requests of the control plane: without compression, and without following redirects.
 * @param check throws for a response whose body need not be read
 * @throws FetchFailed
 */
export async function fetchBounded(
  url: string,
  { maxBytes, timeoutMs, signal, headers, ...request }: BoundedRequest,
  check: (response: Response) => void = () => {},
): Promise<{ readonly response: Response; readonly body: Uint8Array }> {
  // Loaded on first use: few hosts fetch anything, and startup is faster without the library.
  const { default: fetch } = await import('node-fetch');
  const timeout = AbortSignal.timeout(timeoutMs);
  const end = new AbortController();
  const fail = (cause: unknown): never => {
    // The FetchError of node-fetch, which is not imported here.
    const isTooLarge = cause instanceof Error && 'type' in cause && cause.type === 'max-size';
    throw new FetchFailed(timeout.aborted ? 'timeout' : isTooLarge ? 'max-size' : 'failed', cause);
  };
  try {
    const response = await fetch(url, {
      redirect: 'manual',
      ...request,
      headers: { 'accept-encoding': 'identity', ...headers },
      compress: false,
      size: maxBytes,
      signal: AbortSignal.any([timeout, end.signal, ...(signal ? [signal] : [])]),
    }).catch(fail);
    check(response);
    const body = await response.arrayBuffer().catch(fail);
    return { response, body: new Uint8Array(body) };
  } finally {
    // Releases the connection of a response that was not read completely.
    end.abort();
  }
}
