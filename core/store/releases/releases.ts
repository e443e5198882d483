import type { Actor } from '../../contract/index.js';
import {
  type Column,
  INTEGER,
  type Table,
  type Tables,
  TEXT,
  TEXT_OR_NULL,
  texts,
} from '../tables.js';

export const RELEASE_TABLES = {
  /** Never changed but for the verdict. Times are the store's clock, in ISO 8601. */
  release: {
    columns: {
      /** The id is the digest of base, least version and files. */
      ...texts('fleet', 'id'),
      /** Numbers releases in the order of their publication, from 1. */
      number: INTEGER,
      /** The release that it was made from; `null` for a first one. */
      base: TEXT_OR_NULL,
      author_kind: TEXT as Column<Actor['kind']>,
      ...texts('author_id', 'created_at', 'note', 'least_version'),
      files: INTEGER,
      bytes: INTEGER,
      /** The result of its canary, as JSON text; `null` without one. */
      verdict: TEXT_OR_NULL,
    },
    primaryKey: ['fleet', 'id'],
  },
  /** A part of the files of a release. No row is large, because SQLite runs on the event loop. */
  release_part: {
    columns: {
      ...texts('fleet', 'release'),
      /** The order of the parts, from 0. */
      number: INTEGER,
      /** All parts together are a JSON text in ASCII: base64 by path. */
      content: TEXT,
    },
    primaryKey: ['fleet', 'release', 'number'],
  },
  /** One row for each fleet; writers lock it. The canary is JSON text. */
  release_state: {
    columns: { fleet: TEXT, active: TEXT_OR_NULL, canary: TEXT_OR_NULL },
    primaryKey: ['fleet'],
  },
  /** The release of each host that follows releases. The figures of a canary are JSON text. */
  release_host: {
    columns: {
      ...texts('fleet', 'host'),
      release: TEXT_OR_NULL,
      problem: TEXT_OR_NULL,
      figures: TEXT_OR_NULL,
    },
    primaryKey: ['fleet', 'host'],
  },
} satisfies Record<string, Table>;

/** A release without its files. */
export type StoredRelease = Readonly<
  Omit<Tables['release'], 'fleet' | 'number' | 'verdict'> & { verdict: CanaryVerdict | null }
>;

export interface ReleaseDraft extends Omit<StoredRelease, 'created_at' | 'verdict'> {
  /** Of `splitContent`. */
  readonly parts: readonly string[];
}

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

export interface ReleaseHost {
  readonly host: string;
  readonly release: string | null;
  /** The reason why it does not serve the expected release, or a module of it. */
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
