import type { Log } from '../contract/index.js';
import { toError } from '../lib/to-error.js';
import { Settling } from '../watch/settling.js';
import { Watcher } from '../watch/watcher.js';
import type { PluginRegistry } from './plugin-registry.js';

// Events report changes of a plugin; polls find the rest, such as changes on a network file system.
const POLL_MS = 30_000;

/**
 * Watches the folders of plugins: descriptors that lack a plugin are loaded once it is installed.
 */
export class PluginWatcher {
  readonly #plugins: PluginRegistry;
  readonly #log: Log;
  readonly #onChange: () => void;
  readonly #watcher: Watcher;
  /** The last used state of the folders. */
  #seen: string | null = null;
  #settling: Settling | null = null;
  #isClosed = false;
  #lastProblem: string | null = null;

  constructor(plugins: PluginRegistry, log: Log, onChange: () => void) {
    this.#plugins = plugins;
    this.#log = log;
    this.#onChange = onChange;
    this.#watcher = new Watcher({
      check: () => this.#check(),
      onError: (error) => this.#report(error),
      pollMs: POLL_MS,
    });
  }

  start(): void {
    this.#watcher.start();
  }

  /** @param force also reads rejected plugins that have not changed */
  async scan(force: boolean): Promise<void> {
    try {
      const hasChanged = await this.#plugins.refresh(force);
      this.#lastProblem = null;
      if (hasChanged && !this.#isClosed) this.#onChange();
    } catch (error) {
      // A folder that has disappeared removes nothing: imported plugins stay.
      this.#report(error);
    }
  }

  close(): void {
    this.#isClosed = true;
    // A check in progress has no further effect.
    void this.#watcher.close();
  }

  async #check(): Promise<number | null> {
    const startedAt = performance.now();
    const { folders, stamp } = await this.#plugins.locate();
    const endedAt = performance.now();
    this.#watcher.follow(folders);
    if (stamp === this.#seen) {
      this.#settling = null;
      return null;
    }
    this.#settling ??= new Settling(startedAt);
    const isFirst = this.#seen === null;
    if (!isFirst && !this.#settling.accepts(stamp, { startedAt, endedAt })) {
      return this.#settling.remainingMs(endedAt);
    }
    this.#settling = null;
    this.#seen = stamp;
    await this.scan(false);
    return null;
  }

  #report(error: unknown): void {
    const problem = toError(error).message;
    if (problem !== this.#lastProblem) this.#log.warn({ reason: problem }, 'plugin scan failed');
    this.#lastProblem = problem;
  }
}
