import type { BodyFlow, BodySink, BodyStream } from './body-stream.js';

/** Opens a body for a sink, also one that can only be iterated. */
export function openFlow(body: BodyStream, sink: BodySink): BodyFlow {
  // A plugin in JavaScript may have `null`.
  return body.pushTo == null ? new IteratedFlow(body, sink) : body.pushTo(sink);
}

/** Pushes a body that can only be iterated. */
class IteratedFlow implements BodyFlow {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #sink: BodySink;
  #isReading = false;
  #isOver = false;

  constructor(body: BodyStream, sink: BodySink) {
    this.#iterator = body[Symbol.asyncIterator]();
    this.#sink = sink;
  }

  resume(): void {
    if (!this.#isReading && !this.#isOver) void this.#read();
  }

  stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Releases the resources of a source that may fail to do so.
    void Promise.resolve(this.#iterator.return?.()).catch(() => {});
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (true) {
        const { done, value } = await this.#iterator.next();
        if (this.#isOver) return;
        if (done === true) {
          this.#isOver = true;
          this.#sink.end();
          return;
        }
        if (!this.#sink.write(value)) break;
      }
    } catch (error) {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#sink.fail(error);
    }
    this.#isReading = false;
  }
}

/** Iterates a body that is pushed. */
export async function* iterateFlow(
  body: Required<Pick<BodyStream, 'pushTo'>>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const parts: Uint8Array[] = [];
  let end: { readonly error?: unknown } | null = null;
  let wake = () => {};
  const finish = (reason: { readonly error?: unknown }) => {
    end = reason;
    wake();
  };
  const flow = body.pushTo({
    write: (part) => {
      parts.push(part);
      wake();
      return false;
    },
    end: () => finish({}),
    fail: (error) => finish({ error }),
  });
  try {
    while (true) {
      const part = parts.shift();
      if (part !== undefined) yield part;
      else if (end !== null) {
        if ('error' in end) throw (end as { readonly error: unknown }).error;
        return;
      } else {
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        flow.resume();
        await changed;
      }
    }
  } finally {
    if (end === null) flow.stop();
  }
}
