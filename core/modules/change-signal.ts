/** Calls listeners soon after something has changed; several changes at once are one call. */
export class ChangeSignal {
  readonly #listeners = new Set<() => void>();
  readonly #onError: (error: unknown) => void;
  #timer: NodeJS.Immediate | null = null;

  /** @param onError is called when a listener throws; the others are called all the same */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** @returns removes the listener. */
  add(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  readonly notify = (): void => {
    if (this.#timer !== null || this.#listeners.size === 0) return;
    this.#timer = setImmediate(() => {
      this.#timer = null;
      for (const listener of [...this.#listeners]) this.#call(listener);
    });
  };

  #call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#onError(error);
    }
  }
}
