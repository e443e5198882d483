import { readSurfaceConfig } from '../../config/read-plugin-config.js';
import type { SurfaceChoice } from '../../config/surface-list.js';
import type { SurfaceStatus } from '../../contract/plugin-status.js';
import { ConfigError } from '../../errors.js';
import type { Attempt } from '../../lib/attempt.js';
import { compareNames } from '../../lib/compare-texts.js';
import { firstSegment } from '../../lib/routing/request-path.js';
import { toError } from '../../lib/to-error.js';
import type { FoundSurface } from '../../plugin-loader/plugin-registry.js';
import { MAX_BODY_BYTES, MountedSurface } from './mounted-surface.js';
import { isHostPrefix, isSurfacePrefix } from './surface-path.js';
import type { SurfaceServices } from './surface-services.js';

/** Looks up the surfaces of plugins. */
export interface SurfaceSource {
  surfaces(): readonly string[];
  surface(name: string): Promise<FoundSurface>;
}

export class SurfaceRegistry {
  readonly #byPrefix = new Map<string, MountedSurface>();
  readonly #failed: SurfaceStatus[] = [];
  readonly #source: SurfaceSource;

  constructor(source: SurfaceSource) {
    this.#source = source;
  }

  /**
   * Loads and opens the enabled surfaces. A surface that cannot be loaded or opened is logged and
   * omitted.
   * @param choices the enabled surfaces
   * @throws ConfigError for a config that a surface rejects, and for a prefix conflict.
   */
  async open(choices: readonly SurfaceChoice[], services: SurfaceServices): Promise<void> {
    const loaded: { choice: SurfaceChoice; result: FoundSurface | Error }[] = [];
    for (const choice of choices) {
      loaded.push({ choice, result: await load(choice.name, this.#source) });
    }
    const surfaces = loaded.flatMap(({ result }) => (result instanceof Error ? [] : [result]));
    for (const { choice, result } of loaded) {
      const problem = result instanceof Error ? result : findPrefixProblem(result, surfaces);
      if (result instanceof Error || problem !== null) {
        const reason = problem?.message ?? '';
        this.#failed.push(createStatus(choice.name, 'failed', reason));
        services.log.error({ surface: choice.name, reason }, 'surface failed');
      } else {
        assertPrefixFree(result, this.#byPrefix.get(result.factory.prefix));
        const mounted = new MountedSurface(result, choice, services);
        this.#byPrefix.set(mounted.prefix, mounted);
      }
    }
    for (const surface of this.#byPrefix.values()) await surface.open();
  }

  /**
   * Loads the surfaces and validates their settings without opening them.
   * @param attempt receives the errors of `open`, except those that occur while a surface opens
   * @returns the surfaces that a host would omit
   */
  async validate(
    choices: readonly SurfaceChoice[],
    attempt: Attempt,
  ): Promise<readonly { readonly name: string; readonly reason: string }[]> {
    const byPrefix = new Map<string, FoundSurface>();
    const failed: { name: string; reason: string }[] = [];
    for (const choice of choices) {
      await attempt(async () => {
        const surface = await load(choice.name, this.#source);
        const problem =
          surface instanceof Error ? surface : findPrefixProblem(surface, [...byPrefix.values()]);
        if (surface instanceof Error || problem !== null) {
          failed.push({ name: choice.name, reason: problem?.message ?? '' });
          return;
        }
        const { factory } = surface;
        const other = byPrefix.get(factory.prefix);
        assertPrefixFree(surface, other && { name: other.factory.name, plugin: other.plugin });
        byPrefix.set(factory.prefix, surface);
        await readSurfaceConfig(choice, factory);
      });
    }
    return failed;
  }

  /** Returns the surface that owns the path of a raw target. */
  find(target: string): MountedSurface | null {
    return this.#byPrefix.get(firstSegment(target)) ?? null;
  }

  /** The prefix of the first surface that is a protected resource; `null` without one. */
  findProtectedPrefix(): string | null {
    const all = [...this.#byPrefix.values()];
    return all.find(({ isProtectedResource }) => isProtectedResource)?.prefix ?? null;
  }

  listOpen(): readonly { readonly name: string; readonly prefix: string }[] {
    const open = [...this.#byPrefix.values()].filter(({ status }) => status.state === 'open');
    return open.map(({ name, prefix }) => ({ name, prefix }));
  }

  /** Lists the surfaces by name, including disabled ones. */
  list(): readonly SurfaceStatus[] {
    const on = [...[...this.#byPrefix.values()].map(({ status }) => status), ...this.#failed];
    const off = this.#source
      .surfaces()
      .filter((name) => !on.some((status) => status.name === name))
      .map((name) => createStatus(name, 'off', null));
    return [...on, ...off].sort(compareNames);
  }

  get shippedUiDigests(): ReadonlySet<string> {
    const digests = [...this.#byPrefix.values()].map(({ shippedUiDigest }) => shippedUiDigest);
    return new Set(digests.filter((digest) => digest !== null));
  }

  /** Ends event streams, which would prevent the host from draining. */
  endStreams(): void {
    for (const surface of this.#byPrefix.values()) surface.endStreams();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byPrefix.values()].map((surface) => surface.close()));
  }
}

async function load(name: string, source: SurfaceSource): Promise<FoundSurface | Error> {
  try {
    const surface = await source.surface(name);
    const { maxBodyBytes, maxAnonymousBodyBytes } = surface.factory;
    for (const limit of [maxBodyBytes, maxAnonymousBodyBytes]) {
      if (limit === undefined || isBodyLimit(limit)) continue;
      return new Error(`its limits of bodies must be 0 to ${MAX_BODY_BYTES} bytes`);
    }
    return surface;
  } catch (error) {
    return toError(error);
  }
}

/**
 * The reason why a surface cannot have its prefix; `null` if it can, and for a prefix of the host,
 * which is reported with its owner.
 * @throws ConfigError for a prefix below that of another surface.
 */
function findPrefixProblem(
  { factory: { name, prefix }, plugin }: FoundSurface,
  all: readonly FoundSurface[],
): Error | null {
  if (isSurfacePrefix(prefix) || isHostPrefix(prefix)) return null;
  const owner = all.find(({ factory }) => factory.prefix === firstSegment(String(prefix)));
  if (owner !== undefined && isSurfacePrefix(owner.factory.prefix)) {
    throw new ConfigError(
      `surface '${name}' of plugin '${plugin}' has the prefix '${prefix}', which is below that of surface ` +
        `'${owner.factory.name}' of plugin '${owner.plugin}': switch one of them off in surfaces`,
    );
  }
  return new Error(`its prefix must be one segment of a-z, 0-9 and -, such as '/${name}'`);
}

function isBodyLimit(limit: unknown): boolean {
  return Number.isSafeInteger(limit) && Number(limit) >= 0 && Number(limit) <= MAX_BODY_BYTES;
}

/** @throws ConfigError that names both owners. */
function assertPrefixFree(
  { factory: { name, prefix }, plugin }: FoundSurface,
  other: Pick<MountedSurface, 'name' | 'plugin'> | undefined,
): void {
  const claim = `surface '${name}' of plugin '${plugin}' has the prefix '${prefix}'`;
  const hint = `switch it off with surfaces: { ${name}: { enabled: false } }`;
  if (isHostPrefix(prefix)) {
    throw new ConfigError(`${claim}, which belongs to the host's own routes: ${hint}`);
  }
  if (other === undefined) return;
  throw new ConfigError(
    `${claim}, which surface '${other.name}' of plugin '${other.plugin}' has: ${hint}`,
  );
}

function createStatus(
  name: string,
  state: SurfaceStatus['state'],
  reason: string | null,
): SurfaceStatus {
  return { name, plugin: null, prefix: null, state, reason };
}
