import type { Actor } from './actor.js';

/** A release, as `GET /releases` shows it. Times are the store's clock, in ISO 8601. */
export interface ReleaseEntry {
  /** Its digest. */
  readonly release: string;
  /** The release on which it is based; `null` for the first one. */
  readonly base: string | null;
  /** The actor that published it. */
  readonly author: Pick<Actor, 'kind' | 'id'>;
  /** The time of its publication. */
  readonly created_at: string;
  /** The note of its author; may be empty. */
  readonly note: string;
  /** The oldest version of modgate that serves it. */
  readonly least_version: string;
  /** The number of its files. */
  readonly files: number;
  /** The total length of its files. */
  readonly bytes: number;
  /** The result of its canary; `null` without one, or during its trial. */
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
    /** The latest time of the decision. */
    readonly until: string;
    /** The ids of these hosts. */
    readonly hosts: readonly string[];
    readonly modules: CanaryCounts;
  } | null;
  /** Newest first. */
  readonly releases: readonly ReleaseEntry[];
  /** The hosts that have followed releases, with the last release that each served. */
  readonly hosts: readonly {
    readonly host: string;
    readonly release: string | null;
    /** The reason why it does not serve the expected release. */
    readonly problem: string | null;
  }[];
}
