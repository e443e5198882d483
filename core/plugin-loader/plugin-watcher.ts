import type { Log } from '../contract/index.js';
import type { PluginRegistry } from './registry.js';

/** As descriptors are looked for (design 4): a plugin that is dropped in is there soon after. */
const POLL_MS = 2000;

/** Looks for plugins now and then, and tells when there are others: what lacked one may have it now. */
export class PluginWatcher {
  readonly #plugins: PluginRegistry;
  readonly #log: Log;
  readonly #onChange: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #lastTrouble: string | null = null;

  constructor(plugins: PluginRegistry, log: Log, onChange: () => void) {
    this.#plugins = plugins;
    this.#log = log;
    this.#onChange = onChange;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      // Catches everything itself.
      void this.scan(false).finally(() => {
        if (!this.#isClosed) this.start();
      });
    }, POLL_MS).unref();
  }

  /** @param force looks again at what was refused, too */
  async scan(force: boolean): Promise<void> {
    try {
      const hasChanged = await this.#plugins.refresh(force);
      this.#report(null);
      if (hasChanged && !this.#isClosed) this.#onChange();
    } catch (error) {
      // A folder that has vanished takes nothing with it: what was imported serves on.
      this.#report(error instanceof Error ? error.message : 'not an error');
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #report(trouble: string | null): void {
    if (trouble !== null && trouble !== this.#lastTrouble) {
      this.#log.warn({ reason: trouble }, 'the plugins cannot be looked for');
    }
    this.#lastTrouble = trouble;
  }
}
