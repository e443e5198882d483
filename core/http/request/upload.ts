import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProviderFailure } from '../../contract/index.js';
import { HostError } from '../../errors.js';
import { ClientClosed, type RequestFacts } from '../../operations/request.js';
import { BodyPace } from '../../provider/body-pace.js';
import type { Upload, UploadWatcher } from '../../provider/provider-call.js';
import { createLengthError } from './body.js';

interface UploadOptions {
  /** A longer body is rejected. Bytes. */
  readonly maxBytes: number;
  readonly limits: ConstructorParameters<typeof BodyPace>[1];
  /** Learn the number of bytes, and the digest of a whole body. */
  readonly facts: Pick<RequestFacts, 'bytesIn' | 'bytes_in' | 'request_sha256'>;
}

/** The body of a request, read as fast as it is passed on. One part is held at a time. */
export class RequestUpload implements Upload {
  isStarted = false;
  failure: Error | null = null;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #options: UploadOptions;
  readonly #hash = createHash('sha256');
  #watcher: UploadWatcher | null = null;
  #pace: BodyPace | null = null;
  #parts: Buffer[] = [];
  #isOver = false;
  #wake: (() => void) | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, options: UploadOptions) {
    this.#request = request;
    this.#response = response;
    this.#options = options;
  }

  watch(watcher: UploadWatcher): void {
    this.#watcher = watcher;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.isStarted) throw new Error('a body is read once');
    this.#start();
    while (true) {
      const part = this.#parts.shift();
      if (part !== undefined) {
        this.#pace?.wait('provider');
        yield part;
        this.#pace?.wait('client');
        continue;
      }
      if (this.failure !== null) throw this.failure;
      if (this.#isOver) return;
      this.#request.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  stop(): void {
    if (this.#isOver) return;
    this.failure ??= new Error('the body is not read any more');
    this.#end();
    // What is left is discarded, up to a limit.
    this.#request.resume();
  }

  /** A client that waits for `100 Continue` gets it here: everything that its head decides has passed. */
  #start(): void {
    this.isStarted = true;
    this.#watcher?.onStart();
    this.#pace = new BodyPace('client', this.#options.limits, (side, problem) => {
      this.#fail(side === 'client' ? createSlownessError(problem) : createStallFailure(problem));
    });
    const request = this.#request;
    if (request.headers.expect !== undefined) this.#response.writeContinue();
    request.on('data', this.#onData).on('end', this.#onEnd);
    request.on('close', this.#onClose).on('error', this.#onClose);
    if (request.destroyed) this.#onClose();
  }

  readonly #onData = (part: Buffer): void => {
    const { facts, maxBytes } = this.#options;
    facts.bytesIn += part.length;
    facts.bytes_in = facts.bytesIn;
    if (facts.bytesIn > maxBytes) {
      this.#fail(createLengthError(maxBytes));
      return;
    }
    this.#hash.update(part);
    this.#parts.push(part);
    this.#request.pause();
    this.#pace?.pass(part.length);
    this.#notify();
  };

  readonly #onEnd = (): void => {
    this.#options.facts.request_sha256 = this.#hash.digest('hex');
    this.#end();
    this.#watcher?.onEnd();
  };

  readonly #onClose = (): void => this.#fail(new ClientClosed());

  #fail(failure: Error): void {
    if (this.#isOver) return;
    this.failure = failure;
    this.#end();
    this.#watcher?.onFailure(failure);
    this.#request.resume();
  }

  #end(): void {
    this.#isOver = true;
    this.#pace?.end();
    const request = this.#request;
    request.off('data', this.#onData).off('end', this.#onEnd);
    request.off('close', this.#onClose).off('error', this.#onClose);
    this.#notify();
  }

  #notify(): void {
    this.#wake?.();
    this.#wake = null;
  }
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
