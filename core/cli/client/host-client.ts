import { Agent } from 'node:https';
import fetch, { type FetchError, type Response } from 'node-fetch';
import { CommandError } from '../command-error.js';
import type { HostAddress } from './host-options.js';

/** Of one request, to its last byte. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The manifests of ten thousand modules, and room beside them. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
/** A `date` header is cut to the second, and some time goes by on the way: less than this is no skew. */
const CLOCK_NOISE_MS = 2000;

export interface HostAnswer {
  readonly status: number;
  readonly text: string;
}

/** Talks to a host over its own routes. */
export interface HostClient {
  readonly url: string;
  /**
   * Any status is an answer.
   * @throws HostUnreachable when there is none.
   */
  ask(path: string, headers?: Readonly<Record<string, string>>): Promise<HostAnswer>;
  /** By how much the host's clock was ahead of ours at its last answer. Milliseconds. */
  readonly clockSkewMs: number;
}

/** The host gave no answer: nothing listens there, or it is no host, or it is too slow. */
export class HostUnreachable extends CommandError {}

const UNTRUSTED = 'its certificate is of no known authority (name one with --ca)';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  ENOTFOUND: 'its name does not resolve',
  EAI_AGAIN: 'its name does not resolve',
  EHOSTUNREACH: 'there is no way to that address',
  ENETUNREACH: 'there is no way to that address',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  EPROTO: 'it does not speak TLS as asked',
  'max-size': 'its answer is too long',
  'no-redirect': 'it answered with a redirect, which is never followed',
};

export function createHostClient({ url, token, ca = null }: HostAddress): HostClient {
  const agent = ca === null ? undefined : new Agent({ ca });
  const own = {
    accept: 'application/json',
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  let clockSkewMs = 0;
  return {
    url,
    get clockSkewMs() {
      return clockSkewMs;
    },
    ask: async (path, headers = {}) => {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      try {
        const response = await fetch(`${url}${path}`, {
          headers: { ...own, ...headers },
          compress: false,
          // A redirect would carry the token to somebody else.
          redirect: 'error',
          size: MAX_RESPONSE_BYTES,
          signal,
          ...(agent !== undefined && url.startsWith('https:') && { agent }),
        });
        clockSkewMs = readClockSkew(response);
        return { status: response.status, text: await response.text() };
      } catch (error) {
        throw explain(url, error, signal.aborted);
      }
    },
  };
}

function readClockSkew({ headers }: Response): number {
  const skew = Date.parse(headers.get('date') ?? '') - Date.now();
  return Math.abs(skew) > CLOCK_NOISE_MS ? skew : 0;
}

function explain(url: string, error: unknown, isTimeout: boolean): HostUnreachable {
  const { code, type } = error as Partial<FetchError>;
  const known = REASONS[code ?? ''] ?? REASONS[type ?? ''];
  const reason = isTimeout
    ? `no answer within ${REQUEST_TIMEOUT_MS / 1000} s`
    : (known ?? `the connection failed${code === undefined ? '' : ` (${code})`}`);
  return new HostUnreachable(`the host at ${url} cannot be reached: ${reason}`, { cause: error });
}
