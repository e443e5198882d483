import type { Actor } from '../../contract/index.js';
import type { WriteAudit } from '../audit-row.js';

/** A release without its files. */
export interface StoredRelease {
  /** The digest of base, least version and files. */
  readonly id: string;
  /** The release that it was made from; `null` for a first one. */
  readonly base: string | null;
  readonly author: Pick<Actor, 'kind' | 'id'>;
  readonly createdAt: string;
  readonly note: string;
  readonly leastVersion: string;
  readonly files: number;
  readonly bytes: number;
  /** The result of its canary; `null` without one. */
  readonly verdict: CanaryVerdict | null;
}

export interface ReleaseContent extends StoredRelease {
  /** JSON text: base64 by path. */
  readonly content: string;
}

export type ReleaseDraft = Omit<ReleaseContent, 'createdAt' | 'verdict'>;

/** The rule by which a module of a canary counts as failed. */
export interface CanaryRule {
  readonly max_error_rate: number;
  readonly min_calls: number;
}

/** A release that some hosts try. */
export interface Canary {
  readonly release: string;
  readonly since: string;
  /** The time of the decision, by the store's clock. */
  readonly until: string;
  /** Ids of the hosts that serve it. */
  readonly hosts: readonly string[];
  /** The rules of each changed module by name. */
  readonly rules: Readonly<Record<string, CanaryRule>>;
  readonly allowUnproven: boolean;
}

export type CanaryDraft = Omit<Canary, 'release' | 'since' | 'until'> & {
  readonly seconds: number;
};

export interface ReleaseState {
  readonly active: string | null;
  readonly canary: Canary | null;
  /** The store's clock. */
  readonly now: string;
}

/** The counts of the changed modules on one host since it serves the canary. */
export interface CanaryFigures {
  readonly modules: Readonly<Record<string, { readonly calls: number; readonly failed: number }>>;
  /** The reasons why it rejected modules of the release. */
  readonly rejected: Readonly<Record<string, string>>;
}

export interface CanaryVerdict {
  readonly outcome: 'released' | 'failed' | 'unproven' | 'aborted';
  readonly reason: string;
  /** The sums by module, over all hosts. */
  readonly modules: CanaryFigures['modules'];
}

/** The release that a following host serves. */
export interface ReleaseHost {
  readonly host: string;
  readonly release: string | null;
  /** The reason why it does not serve the expected release. */
  readonly problem: string | null;
  readonly figures: (CanaryFigures & { readonly release: string }) | null;
}

export type ChangeResult = { readonly outcome: 'done' } | Conflict;

/** Nothing has changed: another release is active, or a canary is being tried. */
export interface Conflict {
  readonly outcome: 'conflict';
  readonly active: string | null;
  readonly canary: string | null;
}

/** Releases by fleet; hosts without one have the fleet `''`. */
export interface ReleaseStore {
  readState(fleet: string): Promise<ReleaseState>;
  /** Newest first. */
  list(fleet: string): Promise<readonly StoredRelease[]>;
  get(fleet: string, id: string): Promise<ReleaseContent | null>;
  /** Stores a release that was made from the active one, and makes it active or a canary. */
  publish(
    fleet: string,
    draft: ReleaseDraft,
    canary: CanaryDraft | null,
    audit: WriteAudit,
  ): Promise<ChangeResult>;
  /** Makes a stored release active instead of another one, without a canary. */
  activate(
    fleet: string,
    change: { readonly id: string; readonly instead: string | null },
    audit: WriteAudit,
  ): Promise<ChangeResult>;
  /**
   * Ends a canary once, under an advisory lock.
   * @returns whether it was this one that ended it
   */
  endCanary(
    fleet: string,
    release: string,
    verdict: CanaryVerdict,
    audit: WriteAudit,
  ): Promise<boolean>;
  report(fleet: string, host: ReleaseHost): Promise<void>;
  listHosts(fleet: string): Promise<readonly ReleaseHost[]>;
}
