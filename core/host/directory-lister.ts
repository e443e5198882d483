import { isDeepStrictEqual } from 'node:util';
import { type DirectoryNames, listDirectory, listNames } from '../watch/directory.js';

/**
 * Lists a folder again and again. What kind the entries are of is asked anew only when there are others
 * than before, or one that may become something else and keep its name, as a folder or a link may.
 */
export class DirectoryLister {
  readonly #directory: string;
  #last: DirectoryNames | null = null;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws UnreadableDirectory when the folder is not there or cannot be read. */
  async list(): Promise<DirectoryNames> {
    const last = this.#last;
    if (
      last?.plainEntries &&
      isDeepStrictEqual(await listNames(this.#directory), last.plainEntries)
    ) {
      return last;
    }
    this.#last = await listDirectory(this.#directory);
    return this.#last;
  }

  /** Asks for all kinds at the next time. */
  forget(): void {
    this.#last = null;
  }
}
