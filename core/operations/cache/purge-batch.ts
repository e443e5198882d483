import type { Purge } from './entry-index.js';

/** Batches the purges of a busy writer: a message for each would cost more than the write. */
const DELAY_MS = 20;
/** The maximum number of paths in a batch; above it, the whole module is purged. */
const MAX_PATHS = 1000;

/** The purges of one module that are not announced yet, by path. */
type ModulePurges = Map<string, Purge>;

/** Collects purges, and sends them together soon after the first one. */
export class PurgeBatch {
  readonly #send: (purges: readonly Purge[]) => void;
  #unsent = new Map<string, ModulePurges>();
  #timer: NodeJS.Timeout | null = null;

  /** @param send called with at most 1,001 purges of each module */
  constructor(send: (purges: readonly Purge[]) => void) {
    this.#send = send;
  }

  /** @param delayMs the time until the batch is sent, if this is its first purge */
  add(purge: Purge, delayMs = DELAY_MS): void {
    const { module, path, isPrefix } = purge;
    const ofModule: ModulePurges = this.#unsent.get(module) ?? new Map();
    this.#unsent.set(module, ofModule);
    ofModule.set(`${isPrefix}${path}`, purge);
    if (path === null || ofModule.size > MAX_PATHS) {
      this.#unsent.set(module, new Map([['', createWholePurge(module)]]));
    }
    this.#timer ??= setTimeout(() => this.#flush(), delayMs).unref();
  }

  #flush(): void {
    this.#timer = null;
    const purges = [...this.#unsent.values()].flatMap((ofModule) => [...ofModule.values()]);
    this.#unsent = new Map();
    this.#send(purges);
  }
}

export function createWholePurge(module: string): Purge {
  return { module, path: null, isPrefix: false };
}
