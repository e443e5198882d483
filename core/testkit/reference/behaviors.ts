import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { ReferenceAnswer, ReferenceFault, ReferenceRequest } from './reference-protocol.js';

/**
 * JSON that a round trip through JSON.parse and JSON.stringify changes: a large integer, a trailing zero,
 * white space, an escape.
 */
export const EXACT_JSON = '{ "big":12345678901234567890, "price":1.10,\n"name":"\\u00e4 ä €" }';

/** Bytes that are neither JSON nor text in any encoding. */
export const NOT_TEXT: readonly number[] = [0xff, 0x00, 0xfe, 0x0d, 0x0a, 0x80];

/** The number of records of the entity `items`. */
export const ITEM_COUNT = 5;

/** The headers of `/version`, which responds with 304 for its entity tag. */
export const VERSION_HEADERS = {
  etag: 'W/"a, b"',
  'last-modified': 'Sat, 01 Jan 2000 00:00:00 GMT',
  'cache-control': 'max-age=60, must-revalidate',
  link: '</echo/1>; rel="prev", </echo/3>; rel="next"; title="x, y"',
  location: '/echo/made',
  vary: 'accept-language',
  'x-total-count': '3',
} as const;

const JSON_TYPE = { 'content-type': 'application/json' };

interface Memory {
  countOf(marker: string): number;
  /** Resolves when the marker is released; at once if it already is. */
  heldBy(marker: string): Promise<void>;
  release(marker: string): void;
  configuration(): Uint8Array;
  /** Returns `false` for a revision that is older than the one in use. */
  configure(bytes: Uint8Array): boolean;
  /** The number of deliveries, accepted or not. */
  deliveries(): number;
}

/** Responds to one request, by its path. */
export async function respond(
  request: ReferenceRequest,
  url: URL,
  memory: Memory,
): Promise<ReferenceAnswer> {
  const [, name = '', argument = ''] = url.pathname.split('/');
  switch (name) {
    case 'echo':
      return { ...json(describe(request)), headers: { ...JSON_TYPE, 'x-method': request.method } };
    case 'status':
      return { ...json({ status: Number(argument) }), status: Number(argument) };
    case 'bytes':
      return raw(`"${'x'.repeat(Number(argument) - 2)}"`);
    case 'slow':
      await new Promise((resolve) => setTimeout(resolve, Number(argument)).unref());
      return json(describe(request));
    case 'held':
      await memory.heldBy(argument);
      return json(describe(request));
    case 'release':
      memory.release(argument);
      // The response to the held request is sent first.
      await setImmediate();
      return json(describe(request));
    case 'seen':
      return json(memory.countOf(argument));
    case 'exact':
      return raw(EXACT_JSON);
    case 'empty':
      return { status: 204, headers: {}, body: null };
    case 'text':
      return {
        status: 200,
        headers: { 'content-type': 'application/octet-stream' },
        body: Uint8Array.from(NOT_TEXT),
      };
    case 'hang':
      return new Promise(() => {});
    case 'headers':
      return {
        ...json({}),
        headers: { ...JSON_TYPE, 'X-Reference': 'Kept As It Is', 'x-repeated': ['one', 'two'] },
      };
    case 'version': {
      const isKnown = request.headers['if-none-match'] === VERSION_HEADERS.etag;
      if (isKnown) return { status: 304, headers: VERSION_HEADERS, body: null };
      return { ...json({ version: 1 }), headers: { ...JSON_TYPE, ...VERSION_HEADERS } };
    }
    case 'bare':
      return { status: Number(argument), headers: {}, body: null };
    case 'redirect': {
      const location = `/echo/followed?${url.searchParams}`;
      return { ...json({}), status: 302, headers: { ...JSON_TYPE, location } };
    }
    case 'fault':
      return { ...json({}), fault: argument as ReferenceFault };
    case 'admin':
      return argument === 'act' ? raw(request.body ?? 'null') : json(listItems(url));
    case 'config':
      return request.method === 'PUT' ? configure(request, memory) : raw(memory.configuration());
    case 'deliveries':
      return json(memory.deliveries());
    default:
      return { ...json({ message: 'unknown path' }), status: 404 };
  }
}

function configure(request: ReferenceRequest, memory: Memory): ReferenceAnswer {
  const isAccepted = memory.configure(request.body ?? Buffer.from('null'));
  if (isAccepted) return { status: 204, headers: {}, body: null };
  return { ...json({ message: 'older revision' }), status: 409 };
}

/** The response of `/echo`: the received request. */
export interface Echo {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The SHA-256 of the body in hex, which keeps the response small; `null` without a body. */
  readonly bodySha256: string | null;
}

function describe({ method, target, headers, body }: ReferenceRequest): Echo {
  const isEmpty = body === null || body.length === 0;
  return { method, target, headers, bodySha256: isEmpty ? null : hashBody(body) };
}

/** Returns the hash in hex. */
export function hashBody(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

function listItems(url: URL): object {
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const until = Math.min(from + Number(url.searchParams.get('limit')), ITEM_COUNT);
  const records = Array.from({ length: until - from }, (_, index) => ({ id: from + index }));
  return { records, next_cursor: until < ITEM_COUNT ? String(until) : null };
}

function json(value: unknown): ReferenceAnswer {
  return raw(JSON.stringify(value));
}

function raw(body: string | Uint8Array): ReferenceAnswer {
  return { status: 200, headers: JSON_TYPE, body: Buffer.from(body) };
}
