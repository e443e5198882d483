import type { ReservedPrefixes } from '../../descriptor/section.js';
import { HOST_PREFIXES, isSurfacePrefix } from './surface-path.js';
import type { SurfaceSource } from './surface-registry.js';

/** The prefixes that no mount can use: those of the host, and of every surface, enabled or not. */
export class HostPrefixes implements ReservedPrefixes {
  readonly #source: SurfaceSource;
  current: ReadonlySet<string> = HOST_PREFIXES;

  constructor(source: SurfaceSource) {
    this.#source = source;
  }

  async load(): Promise<ReadonlySet<string>> {
    const prefixes = new Set(this.current);
    for (const name of this.#source.surfaces()) {
      const prefix = await this.#readPrefix(name);
      if (isSurfacePrefix(prefix)) prefixes.add(prefix);
    }
    this.current = prefixes;
    return prefixes;
  }

  /** A surface that cannot be loaded has no prefix; opening it reports the reason. */
  async #readPrefix(name: string): Promise<unknown> {
    try {
      return (await this.#source.surface(name)).factory.prefix;
    } catch {
      return null;
    }
  }
}
