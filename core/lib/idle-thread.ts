import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads';

/** Whether the system lacked the resources for the thread. The next request tries again to start it. */
export function isThreadLacking(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_INIT_FAILED';
}

interface IdleThreadOptions {
  /** The module that the thread runs. */
  readonly entry: URL;
  readonly name: string;
  /** The thread exits after this time without requests. Milliseconds. */
  readonly idleMs: number;
  /**
   * The longest request, including the start of the thread; then the thread is terminated. Default:
   * no limit. Milliseconds.
   */
  readonly maxMs?: number;
  readonly resourceLimits: ResourceLimits;
}

/**
 * A worker thread that answers requests one after another, each with one message. The first request
 * starts it, and so does the next one after it has ended.
 */
export class IdleThread<Request, Answer> {
  readonly #options: IdleThreadOptions;
  #worker: Worker | null = null;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: IdleThreadOptions) {
    this.#options = options;
  }

  /**
   * Sends a request. Call it again only when the previous request has ended.
   * @param transferred memory that the thread takes ownership of
   * @throws the error that ended the thread; Error if it exited or took too long.
   */
  async ask(request: Request, transferred: readonly Transferable[] = []): Promise<Answer> {
    clearTimeout(this.#idleTimer);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    // Prevents the process from exiting during a request.
    worker.ref();
    try {
      return await this.#send(worker, request, transferred);
    } catch (error) {
      this.#end();
      throw error;
    } finally {
      worker.unref();
      this.#idleTimer = setTimeout(() => this.#end(), this.#options.idleMs).unref();
    }
  }

  #send(worker: Worker, request: Request, transferred: readonly Transferable[]): Promise<Answer> {
    const { name, maxMs } = this.#options;
    return new Promise<Answer>((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      };
      const onMessage = (answer: Answer) => {
        settle();
        resolve(answer);
      };
      const onError = (error: unknown) => {
        settle();
        reject(error);
      };
      const onExit = () => onError(new Error(`the thread for ${name} has ended`));
      const timer = maxMs === undefined ? undefined : setTimeout(onExit, maxMs);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(request, transferred);
    });
  }

  #start(): Worker {
    const { entry, name, resourceLimits } = this.#options;
    const worker = new Worker(entry, { name, env: {}, argv: [], resourceLimits });
    // Its exit follows.
    worker.on('error', () => {});
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }
}
