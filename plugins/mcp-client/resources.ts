import {
  type Invocation,
  isProviderFailure,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { describeProblem, McpProblem } from './describe-problem.js';
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
  /** The error of the last list; `null` after a success. */
  #problem: Error | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Whether the server lists a resource. After a list that fails, those of the last one stay.
   * @throws McpProblem or ProviderFailure while the list fails, for any other.
   */
  async has(uri: string): Promise<boolean> {
    const ageMs = performance.now() - this.#listedAt;
    const isDue = ageMs > MAX_AGE_MS || (!this.#uris.has(uri) && ageMs > MIN_PAUSE_MS);
    if (isDue && this.#session.offers('resources')) {
      this.#listing ??= this.#list().finally(() => {
        this.#listing = null;
      });
      await this.#listing;
    }
    if (this.#uris.has(uri)) return true;
    if (this.#problem !== null) throw this.#problem;
    return false;
  }

  async #list(): Promise<void> {
    try {
      this.#uris = new Set((await listPages(this.#session, 'resources/list')).keys());
      this.#problem = null;
    } catch (error) {
      this.#problem = isProviderFailure(error)
        ? error
        : new McpProblem(`the resources cannot be listed: ${describeProblem(error)}`);
    } finally {
      // Also after a failure, so that calls do not list at their own pace.
      this.#listedAt = performance.now();
    }
  }
}

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
