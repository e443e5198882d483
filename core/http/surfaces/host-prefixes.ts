import type { ReservedPrefixes } from '../../descriptor/mounts.js';
import { HOST_PREFIXES, isSurfacePrefix } from './surface-path.js';
import type { SurfaceSource } from './surface-registry.js';

/** The prefixes that no mount can take: those of the host, and of every surface, whether it is on or off. */
export class HostPrefixes implements ReservedPrefixes {
  readonly #source: SurfaceSource;
  current: ReadonlySet<string> = HOST_PREFIXES;

  constructor(source: SurfaceSource) {
    this.#source = source;
  }

  async load(): Promise<ReadonlySet<string>> {
    const found = new Set(this.current);
    for (const name of this.#source.surfaces()) {
      const prefix = await this.#readPrefix(name);
      if (isSurfacePrefix(prefix)) found.add(prefix);
    }
    this.current = found;
    return found;
  }

  /** A surface that cannot be loaded has no prefix; its own start reports why. */
  async #readPrefix(name: string): Promise<unknown> {
    try {
      return (await this.#source.surface(name)).factory.prefix;
    } catch {
      return null;
    }
  }
}
