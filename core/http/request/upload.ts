import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { iterateFlow } from '../../contract/body-flow.js';
import { type BodyFlow, type BodySink, ProviderFailure } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { type BodyCheck, ClientClosed, type RequestFacts } from '../../operations/request.js';
import { BodyPace } from '../../provider/body-pace.js';
import type { Upload, UploadWatcher } from '../../provider/provider-call.js';
import { createLengthError } from './body.js';
import { sendContinue } from './send-continue.js';

interface UploadOptions {
  /** The maximum length of the body. Bytes. */
  readonly maxBytes: number;
  readonly limits: ConstructorParameters<typeof BodyPace>[1];
  /** Receive the number of bytes, and the digest of a complete byte body. */
  readonly facts: Pick<RequestFacts, 'bytesIn' | 'bytes_in' | 'request_sha256'>;
  /** Whether the digest of a byte body is recorded. Default false. */
  readonly hasDigest?: boolean;
  /** Validates a JSON body, and has accepted `start`. */
  readonly check?: BodyCheck;
  /**
   * The part that was read before. A client that waits for `100 Continue` has received it. Default:
   * empty.
   */
  readonly start?: readonly Buffer[];
}

/** The body of a request, passed on at the speed of the provider. One part is held at a time. */
export class RequestUpload implements Upload {
  isStarted = false;
  failure: Error | null = null;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #options: UploadOptions;
  readonly #hash;
  #watcher: UploadWatcher | null = null;
  #pace: BodyPace | null = null;
  /** What is not passed on yet: the start, or the last part of JSON that is not known to be valid. */
  #parts: Buffer[];
  #sink: BodySink | null = null;
  /** Whether the provider takes more. */
  #isWanted = false;
  #isOver = false;
  #isWhole = false;
  /** Whether parts are only validated, and not forwarded. */
  #isDropped = false;
  #waiting: (() => void)[] = [];

  constructor(request: IncomingMessage, response: ServerResponse, options: UploadOptions) {
    this.#request = request;
    this.#response = response;
    this.#options = options;
    this.#hash = options.hasDigest === true ? createHash('sha256') : null;
    this.#parts = [...(options.start ?? [])];
    for (const part of this.#parts) options.facts.bytesIn += part.length;
  }

  watch(watcher: UploadWatcher): void {
    this.#watcher = watcher;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    return iterateFlow(this);
  }

  pushTo(sink: BodySink): BodyFlow {
    if (this.isStarted || this.#sink !== null) throw new Error('a body is read once');
    this.#sink = sink;
    return { resume: () => this.#resume(), stop: () => this.#drop() };
  }

  /** Whether the next part is the last one of JSON that is not yet known to be valid. */
  get #isLastHeld(): boolean {
    if (this.#options.check === undefined || this.#isWhole || this.#parts.length > 1) return false;
    return Number(this.#request.headers['content-length']) === this.#options.facts.bytesIn;
  }

  async waitForEnd(): Promise<void> {
    if (!this.isStarted) {
      this.#start();
      this.#drop();
    }
    if (!this.#isOver) await this.#waitForOver();
    if (!this.#isWhole) throw this.failure ?? createStopped();
  }

  stop(reason: Error | null = null): void {
    if (this.#isOver) return;
    this.failure = reason;
    this.#end();
    this.#tellSink();
    // Discards the rest, up to a limit.
    this.#request.resume();
  }

  fail(failure: Error): void {
    if (this.#isOver) {
      this.failure ??= failure;
      this.#watcher?.onFailure(failure);
    } else this.#fail(failure);
  }

  #resume(): void {
    if (this.#isDropped) return;
    if (!this.isStarted) this.#start();
    this.#isWanted = true;
    this.#flush();
  }

  /** Passes on what has arrived and the end, as far as the provider takes it. */
  #flush(): void {
    const sink = this.#sink;
    if (sink === null || !this.#isWanted) return;
    while (this.#isWanted && !this.#isLastHeld) {
      const part = this.#parts.shift();
      if (part === undefined) break;
      this.#isWanted = sink.write(part);
    }
    if (this.#isOver) {
      if (this.#isWanted) this.#tellSink();
    } else if (this.#isWanted) {
      this.#pace?.wait('client');
      this.#request.resume();
    } else {
      this.#pace?.wait('provider');
      this.#request.pause();
    }
  }

  /** Ends the body of the provider, if it still reads. */
  #tellSink(): void {
    const sink = this.#sink;
    this.#sink = null;
    if (this.#isWhole) sink?.end();
    else sink?.fail(this.failure ?? createStopped());
  }

  /**
   * Stops forwarding. The rest of a JSON body is still validated; the rest of a byte body is not
   * read.
   */
  #drop(): void {
    this.#sink = null;
    if (this.#isOver) return;
    this.#isDropped = true;
    this.#parts = [];
    if (this.#options.check === undefined) this.#pace?.end();
    else {
      this.#pace?.wait('client');
      this.#request.resume();
    }
  }

  /** Sends `100 Continue` to a waiting client, because all checks of the head have passed. */
  #start(): void {
    this.isStarted = true;
    this.#watcher?.onStart();
    this.#pace = new BodyPace('client', this.#options.limits, (side, problem) => {
      this.#fail(side === 'client' ? createSlownessError(problem) : createStallFailure(problem));
    });
    const request = this.#request;
    const isContinued = this.#options.start !== undefined;
    if (!isContinued) sendContinue(request, this.#response);
    request.on('data', this.#onData).on('end', this.#onEnd);
    request.on('close', this.#onClose).on('error', this.#onClose);
    // The start may have been the complete body.
    if (request.readableEnded) this.#onEnd();
    else if (request.destroyed) this.#onClose();
  }

  readonly #onData = (part: Buffer): void => {
    const { facts, maxBytes, check } = this.#options;
    facts.bytesIn += part.length;
    if (check === undefined) facts.bytes_in = facts.bytesIn;
    const problem = facts.bytesIn > maxBytes ? createLengthError(maxBytes) : check?.add(part);
    if (problem != null) {
      this.#fail(problem);
      return;
    }
    this.#pace?.pass(part.length);
    if (this.#isDropped) {
      this.#pace?.wait('client');
      return;
    }
    this.#hash?.update(part);
    this.#parts.push(part);
    if (this.#isWanted) this.#flush();
    else this.#request.pause();
  };

  readonly #onEnd = (): void => {
    const problem = this.#options.check?.end() ?? null;
    if (problem !== null) {
      this.#fail(problem);
      return;
    }
    if (this.#hash !== null) this.#options.facts.request_sha256 = this.#hash.digest('hex');
    this.#isWhole = true;
    this.#end();
    this.#watcher?.onEnd();
    this.#flush();
  };

  readonly #onClose = (): void => this.#fail(new ClientClosed());

  #fail(failure: Error): void {
    if (this.#isOver) return;
    this.failure = failure;
    this.#end();
    this.#watcher?.onFailure(failure);
    this.#tellSink();
    this.#request.resume();
  }

  #end(): void {
    this.#isOver = true;
    this.#pace?.end();
    const request = this.#request;
    request.off('data', this.#onData).off('end', this.#onEnd);
    request.off('close', this.#onClose).off('error', this.#onClose);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #waitForOver(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

function createStopped(): Error {
  return new Error('the body is not read any more');
}

function createSlownessError(problem: string): HostError {
  return new HostError('validation_failed', 'the body did not arrive in time', {
    status: 408,
    errors: [{ field: 'body', reason: problem }],
    headers: { connection: 'close' },
  });
}

function createStallFailure(problem: string): ProviderFailure {
  return new ProviderFailure('timeout', `the provider does not read the body: ${problem}`);
}
