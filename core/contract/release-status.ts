import type { Actor } from './actor.js';

/** A release, as `GET /releases` shows it. Times are the store's clock, in ISO 8601. */
export interface ReleaseEntry {
  /** Its digest. */
  readonly release: string;
  /** The release that it was made from; `null` for a first one. */
  readonly base: string | null;
  /** Who published it. */
  readonly author: Pick<Actor, 'kind' | 'id'>;
  /** When it was published. */
  readonly created_at: string;
  /** What its author says of it; empty for nothing. */
  readonly note: string;
  /** Hosts of an older modgate do not serve it. */
  readonly least_version: string;
  /** How many it has. */
  readonly files: number;
  /** The length of its files together. */
  readonly bytes: number;
  /** What became of its canary; `null` without one, or while it is tried. */
  readonly verdict: {
    readonly outcome: 'released' | 'failed' | 'unproven' | 'aborted';
    readonly reason: string;
    readonly modules: CanaryCounts;
  } | null;
}

/** Calls and failed calls of each changed module, over all hosts that serve the canary. */
type CanaryCounts = Readonly<Record<string, { readonly calls: number; readonly failed: number }>>;

/** `GET /releases`. */
export interface ReleasesStatus {
  /** The release that hosts serve; `null` for none. */
  readonly active: string | null;
  /** The release that some hosts try. */
  readonly canary: {
    readonly release: string;
    readonly since: string;
    /** When it is decided at the latest. */
    readonly until: string;
    /** The ids of these hosts. */
    readonly hosts: readonly string[];
    readonly modules: CanaryCounts;
  } | null;
  /** Newest first. */
  readonly releases: readonly ReleaseEntry[];
  /** Every host that has followed releases, and what it served last. */
  readonly hosts: readonly {
    readonly host: string;
    readonly release: string | null;
    /** Why it does not serve what it should. */
    readonly problem: string | null;
  }[];
}
