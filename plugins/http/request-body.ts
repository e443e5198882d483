import { Readable } from 'node:stream';
import { openFlow } from '../../core/contract/body-flow.js';
import type { BodyFlow, BodySink, BodyStream } from '../../core/contract/index.js';

interface StreamedRequest {
  /** Whether the rest of the body is not wanted, because the response is an error. */
  readonly isStopped: () => boolean;
  /** Called when the last part was passed on. */
  readonly onEnd: () => void;
}

/** A streamed body for undici, which reads it once the request has a connection. */
export class RequestBody extends Readable {
  readonly #body: BodyStream;
  readonly #request: StreamedRequest;
  readonly #sink: BodySink;
  /** `null` until it is read: a request without a connection is sent again. */
  #flow: BodyFlow | null = null;

  constructor(body: BodyStream, request: StreamedRequest) {
    // The parts are passed on, not collected.
    super({ highWaterMark: 0 });
    this.#body = body;
    this.#request = request;
    this.#sink = {
      write: (part) => !request.isStopped() && this.push(part) && !this.isPaused(),
      end: () => {
        request.onEnd();
        this.push(null);
      },
      fail: (error) => this.destroy(error as Error),
    };
    // The request may be over when the body fails.
    this.on('error', () => {});
  }

  /** Stops silently: an error would close the connection, and an end would complete the request. */
  override _read(): void {
    if (this.#request.isStopped()) return;
    this.#flow ??= openFlow(this.#body, this.#sink);
    this.#flow.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#flow?.stop();
    done(error);
  }
}
