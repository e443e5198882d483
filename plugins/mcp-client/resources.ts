import { type Invocation, type Outcome, ProviderFailure } from '../../core/contract/index.js';
import { Exchange, readMember } from './exchange.js';
import { listPages } from './list-pages.js';
import type { Session } from './session.js';

/** A list is read again for an unknown URI, at most so often. */
const MIN_PAUSE_MS = 1_000;
const MAX_AGE_MS = 60_000;
/** A resource is one message, which the host holds whole. */
const MAX_RESOURCE_BYTES = 16 * 1_048_576;
/** Four characters of base64 are three bytes. */
const MESSAGE_RATIO = 4 / 3;

const OCTETS = 'application/octet-stream';
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+=(?:[\w.+-]+|"[\w.+ -]*"))*$/;

/** The resources of one session. Those of templates are not served. */
export class Resources {
  readonly #session: Session;
  #uris: ReadonlySet<string> = new Set();
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Whether the server lists a resource. */
  async has(uri: string): Promise<boolean> {
    const ageMs = performance.now() - this.#listedAt;
    const isDue = ageMs > MAX_AGE_MS || (!this.#uris.has(uri) && ageMs > MIN_PAUSE_MS);
    if (isDue && this.#session.offers('resources')) {
      this.#listing ??= this.#list().finally(() => {
        this.#listing = null;
      });
      await this.#listing;
    }
    return this.#uris.has(uri);
  }

  async #list(): Promise<void> {
    try {
      this.#uris = new Set((await listPages(this.#session, 'resources/list')).keys());
    } finally {
      // Also after a failure, so that calls do not list at their own pace.
      this.#listedAt = performance.now();
    }
  }
}

/** The exchange of a call that reads a resource. */
export function createReading(invocation: Invocation): Exchange {
  const { headers, context, maxResponseBytes } = invocation;
  const bytes = Math.min(maxResponseBytes, MAX_RESOURCE_BYTES);
  return new Exchange({
    headers,
    context,
    maxResponseBytes: Math.ceil(bytes * MESSAGE_RATIO),
    countReceived: (received) => invocation.countReceived?.(received),
  });
}

/** @throws ProviderFailure for a result without the resource. */
export function readContents(result: string): Outcome {
  const contents = readMember(JSON.parse(result), 'contents');
  const content: unknown = Array.isArray(contents) ? contents[0] : undefined;
  const text = readMember(content, 'text');
  const blob = readMember(content, 'blob');
  if (typeof text !== 'string' && typeof blob !== 'string') {
    const message = 'the server sent no contents of the resource';
    throw new ProviderFailure('protocol', message, { phase: 'answered', detail: message });
  }
  const body = typeof text === 'string' ? Buffer.from(text) : Buffer.from(`${blob}`, 'base64');
  const type = readMember(content, 'mimeType');
  const fallback = typeof text === 'string' ? 'text/plain; charset=utf-8' : OCTETS;
  const isType = typeof type === 'string' && MEDIA_TYPE.test(type);
  return {
    status: 200,
    headers: { 'content-type': isType ? type : fallback, 'content-length': `${body.length}` },
    body,
  };
}
