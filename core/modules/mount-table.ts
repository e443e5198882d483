import {
  formatMount,
  type Mount,
  type MountedModule,
  mountBase,
  normalizeHost,
} from '../descriptor/sections/mount.js';
import { firstSegment } from '../lib/routing/request-path.js';
import { type ModuleRecord, REJECTED_STATES } from './module-record.js';

export interface MountTableOptions {
  /** The host name of the public URL; `null` without one. */
  readonly publicHost: string | null;
  /** The prefixes of the host and its surfaces. */
  readonly reserved: ReadonlySet<string>;
}

/**
 * Paths of the host that respond for every host name: checks of its state, and the pages of its
 * Problems.
 */
const ALWAYS_OWN: ReadonlySet<string> = new Set(['/livez', '/readyz']);
const PROBLEMS = '/problems/';
const ROOT = '/';

export interface MountSource {
  readonly mounts: MountTable;
}

/** The mounts of all modules. Immutable. */
export class MountTable {
  /** Without mounts, requests need no lookup. */
  readonly isEmpty: boolean;
  /** The modules by host name, `null` for any host; the longest path first. */
  readonly #byHost = new Map<string | null, MountedModule[]>();
  readonly #options: MountTableOptions;

  constructor(mounted: readonly MountedModule[], options: MountTableOptions) {
    this.#options = options;
    this.isEmpty = mounted.length === 0;
    const longestFirst = mounted.toSorted((a, b) => b.mount.path.length - a.mount.path.length);
    for (const mounted of longestFirst) {
      const host = mounted.mount.host ?? null;
      this.#byHost.set(host, [...(this.#byHost.get(host) ?? []), mounted]);
    }
  }

  /**
   * @param host the `host` header
   * @param target exactly as on the request line
   * @returns `null` for a target without a mount; `host` for a path of the host, or an unknown
   * path, under a host name that a module owns
   */
  find(host: string | undefined, target: string): MountedModule | 'host' | null {
    const path = readPath(target);
    const mountedAtHost = host === undefined ? [] : (this.#byHost.get(normalizeHost(host)) ?? []);
    const longest = findLongest(mountedAtHost, path);
    if (this.#isExclusive(mountedAtHost))
      return longest === null || isAlwaysOwn(path) ? 'host' : longest;
    const isOwn = longest?.mount.path === ROOT && this.#options.reserved.has(firstSegment(path));
    if (isOwn) return null;
    return longest ?? findLongest(this.#byHost.get(null) ?? [], path);
  }

  /** Whether a module has a mount under the name of a `host` header. */
  hasHost(host: string | undefined): boolean {
    return host !== undefined && this.#byHost.has(normalizeHost(host));
  }

  /** The mount of a module; `null` if the module does not have it. */
  findMount(module: string, { host, path }: Mount): Mount | null {
    const mountedAtHost = this.#byHost.get(host === undefined ? null : normalizeHost(host)) ?? [];
    const match = mountedAtHost.find(
      (mounted) => mounted.module === module && mounted.mount.path === path,
    );
    return match?.mount ?? null;
  }

  /**
   * A mount of `/` with a host name excludes other paths of the host under this name, unless it is
   * the public one.
   */
  #isExclusive(mountedAtHost: readonly MountedModule[]): boolean {
    const root = mountedAtHost.at(-1)?.mount;
    return root?.path === ROOT && root.host !== this.#options.publicHost;
  }
}

export const NO_MOUNTS = new MountTable([], { publicHost: null, reserved: new Set() });

export interface MountingRecord extends Pick<ModuleRecord, 'name' | 'state' | 'mounts'> {
  readonly live: { readonly name: string } | null;
}

/**
 * Creates the table of all records. A file that serves its current content takes precedence over a
 * rejected one that keeps a mount of its last good version.
 */
export function createMountTable(
  records: readonly MountingRecord[],
  options: MountTableOptions,
): MountTable {
  const live = new Set(records.flatMap((record) => record.live?.name ?? []));
  const owned = new Map<string, MountedModule>();
  const byRank = records.toSorted((a, b) => rank(a) - rank(b));
  for (const { name, live: serving, mounts } of byRank) {
    const module = serving?.name ?? name;
    // Another file has the name, with other mounts.
    if (module === null || (serving === null && live.has(module))) continue;
    for (const mount of mounts) {
      const key = formatMount(mount);
      if (!owned.has(key)) owned.set(key, { module, mount });
    }
  }
  return owned.size === 0 ? NO_MOUNTS : new MountTable([...owned.values()], options);
}

function rank({ state }: Pick<ModuleRecord, 'state'>): number {
  return REJECTED_STATES.has(state) ? 1 : 0;
}

function readPath(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

/** Compares the raw path by code units: an encoded mount does not match. */
function findLongest(mounted: readonly MountedModule[], path: string): MountedModule | null {
  if (!path.startsWith('/')) return null;
  return (
    mounted.find(({ mount }) => {
      const base = mountBase(mount);
      return path.startsWith(base) && (path.length === base.length || path[base.length] === '/');
    }) ?? null
  );
}

function isAlwaysOwn(path: string): boolean {
  return ALWAYS_OWN.has(path) || path.startsWith(PROBLEMS);
}
