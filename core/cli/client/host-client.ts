import { FetchFailed, fetchBounded } from '../../document/bounded-fetch.js';
import {
  findCertificateProblem,
  isHandshakeFailure,
  UNKNOWN_AUTHORITY,
} from '../../lib/tls-problem.js';
import { CommandError } from '../command-error.js';

/** The limit for a complete response. */
const REQUEST_TIMEOUT_MS = 10_000;
/** Sufficient for the manifests of ten thousand modules. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
/** The smallest skew: a `date` header has whole seconds, and transfer takes time. */
const CLOCK_TOLERANCE_MS = 2000;

export interface HostResponse {
  readonly status: number;
  readonly text: string;
}

interface HostRequest {
  /** Default GET. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface HostAddress {
  /** The URL without a trailing slash. */
  readonly url: string;
  /** `null` sends no `authorization`. */
  readonly token: string | null;
  /** Authorities to trust instead of the system's, PEM. */
  readonly ca?: Buffer | null;
}

/** Calls the routes of a host. */
export interface HostClient {
  readonly url: string;
  /**
   * Resolves for every status.
   * @throws HostUnreachable when there is no response.
   */
  send(path: string, request: HostRequest): Promise<HostResponse>;
  /** A client whose requests end by then, in milliseconds of a monotonic clock. */
  until(deadline: number): HostClient;
  /** The clock skew of the host at its last response. Milliseconds; positive if it is ahead. */
  readonly clockSkewMs: number;
}

/** Nothing or another program listens at the address of the host, or it is too slow. */
export class HostUnreachable extends CommandError {}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  ENOTFOUND: 'its name does not resolve',
  EAI_AGAIN: 'its name does not resolve',
  EHOSTUNREACH: 'there is no route to that address',
  ENETUNREACH: 'there is no route to that address',
  HTTPS_PROXY_UNUSABLE: 'HTTPS_PROXY must be the URL of an HTTP proxy',
  UND_ERR_ABORTED: 'the proxy rejected the connection',
};

export function createHostClient({ url, token, ca = null }: HostAddress): HostClient {
  let clockSkewMs = 0;
  const create = (deadline: number): HostClient => ({
    url,
    get clockSkewMs() {
      return clockSkewMs;
    },
    until: create,
    send: async (path, { method = 'GET', headers, body: sent }) => {
      const leftMs = Math.max(0, Math.ceil(deadline - performance.now()));
      const timeoutMs = Math.min(REQUEST_TIMEOUT_MS, leftMs);
      try {
        const request = {
          method,
          headers: {
            accept: 'application/json',
            ...(token !== null && { authorization: `Bearer ${token}` }),
            ...(sent !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(sent !== undefined && { body: JSON.stringify(sent) }),
          maxBytes: MAX_RESPONSE_BYTES,
          timeoutMs,
          ...(ca !== null && { ca }),
        };
        const { response, body } = await fetchBounded(`${url}${path}`, request, ({ status }) => {
          // A redirect would send the token to another server.
          if (status >= 300 && status < 400) throw createRedirectError(url);
        });
        clockSkewMs = readClockSkew(response.headers.get('date'));
        return { status: response.status, text: new TextDecoder().decode(body) };
      } catch (error) {
        if (!(error instanceof FetchFailed)) throw error;
        throw toUnreachable(url, timeoutMs, error);
      }
    },
  });
  return create(Number.POSITIVE_INFINITY);
}

function readClockSkew(date: string | null): number {
  const skew = Date.parse(date ?? '') - Date.now();
  return Math.abs(skew) > CLOCK_TOLERANCE_MS ? skew : 0;
}

function createRedirectError(url: string): HostUnreachable {
  const problem = 'it responded with a redirect, which is never followed';
  return new HostUnreachable(`the host at ${url} cannot be reached: ${problem}`);
}

function toUnreachable(
  url: string,
  timeoutMs: number,
  { reason, cause, through }: FetchFailed,
): HostUnreachable {
  const { code = '' } = cause as { readonly code?: string };
  const problems = {
    timeout: `no response within ${Math.ceil(timeoutMs / 1000)} s`,
    'max-size': 'its response is too large',
    failed:
      REASONS[code] ??
      findTlsReason(code) ??
      `the connection failed${code === '' ? '' : ` (${code})`}`,
  };
  const problem = `the host at ${url} cannot be reached${through}: ${problems[reason]}`;
  return new HostUnreachable(problem, { cause });
}

function findTlsReason(code: string): string | undefined {
  const problem = findCertificateProblem(code);
  const remedy = problem === UNKNOWN_AUTHORITY ? ' (set one with --ca)' : '';
  if (problem !== undefined) return `its certificate ${problem}${remedy}`;
  return isHandshakeFailure(code) ? 'the TLS handshake failed' : undefined;
}
