import { STREAM_FORMS, type StreamForm } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import { createOverload } from './rejected-call.js';

export type HostEndReason = 'max_ms' | 'reload' | 'shutdown' | 'unauthorized';

type StreamLimits = Pick<Descriptor['limits']['stream'], 'per_actor' | 'total'>;

interface Opened {
  readonly form: StreamForm;
  readonly module: string;
  /** The share of its actor. */
  readonly share: string;
  /** The version to which it belongs. */
  readonly client: object;
  readonly onFailure: () => void;
}

/** One stream, from its admission to its end. */
export interface OpenStream {
  /** Set by the stream once it has started. */
  end: (reason: HostEndReason) => void;
  /** Counts it as failed, because it broke off: call it once at most. */
  readonly fail: () => void;
  /** Records its end; may be called again. */
  close(): void;
}

/** The actor has reached its maximum of open streams of the module. */
export class TooManyStreams extends Error {
  override readonly name = 'TooManyStreams';
}

/**
 * A stream of events sends its last event within 1 s, and a WebSocket waits 5 s for the response to
 * its close frame.
 */
const LAST_EVENT_MS = 6000;
const NO_END = () => {};

/** The open streams of this process: of events, and WebSockets. */
export class OpenStreams {
  readonly #all = new Map<OpenStream, Opened>();
  /** The open streams by module, then by actor. */
  readonly #byModule = new Map<string, { total: number; readonly byShare: Map<string, number> }>();
  #onEmpty: (() => void) | null = null;

  /** @throws TooManyStreams; RejectedCall `overloaded`. */
  open(opened: Opened, { per_actor, total }: StreamLimits): OpenStream {
    const { module, share } = opened;
    const counts = this.#byModule.get(module) ?? { total: 0, byShare: new Map() };
    const ofShare = counts.byShare.get(share) ?? 0;
    if (ofShare >= per_actor) throw new TooManyStreams();
    if (counts.total >= total) {
      throw createOverload('limits.stream.total', `stream limit ${total}`);
    }
    counts.total += 1;
    counts.byShare.set(share, ofShare + 1);
    this.#byModule.set(module, counts);
    const { onFailure: fail } = opened;
    const stream: OpenStream = { end: NO_END, fail, close: () => this.#close(stream) };
    this.#all.set(stream, opened);
    return stream;
  }

  countOf(module: string): number {
    return this.#byModule.get(module)?.total ?? 0;
  }

  /** Counts by form, zeros included. */
  counts(): Readonly<Record<StreamForm, number>> {
    const counts = Object.fromEntries(STREAM_FORMS.map((form) => [form, 0]));
    for (const { form } of this.#all.values()) counts[form] = (counts[form] ?? 0) + 1;
    return counts as Record<StreamForm, number>;
  }

  /** @param client the version whose streams end; default: all of them */
  end(reason: HostEndReason, client: object | null = null): void {
    for (const [stream, opened] of [...this.#all]) {
      if (client === null || opened.client === client) stream.end(reason);
    }
  }

  /** Ends all streams, and resolves when each has ended, or after 6 s. */
  async endAll(reason: HostEndReason): Promise<void> {
    if (this.#all.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    this.end(reason);
    const timer = setTimeout(() => this.#onEmpty?.(), LAST_EVENT_MS);
    await empty;
    clearTimeout(timer);
    // The responses end in this turn of the event loop.
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }

  #close(stream: OpenStream): void {
    const opened = this.#all.get(stream);
    if (opened === undefined) return;
    this.#all.delete(stream);
    const counts = this.#byModule.get(opened.module);
    if (counts !== undefined) {
      counts.total -= 1;
      const remaining = (counts.byShare.get(opened.share) ?? 1) - 1;
      if (remaining === 0) counts.byShare.delete(opened.share);
      else counts.byShare.set(opened.share, remaining);
      if (counts.total === 0) this.#byModule.delete(opened.module);
    }
    if (this.#all.size === 0) this.#onEmpty?.();
  }
}
