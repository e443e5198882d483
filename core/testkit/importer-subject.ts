import type { Importer, ProviderAdapter } from '../contract/index.js';
import type { FakeReferences } from './fakes/fake-open-context.js';
import type { SkippedStart } from './skipped.js';

/** Words of a command line: the source, or several of them. */
export type SourceWords = readonly string[];

/** A source that answers nothing once it is asked. */
export interface SilentSource {
  /** The words of the command line. */
  readonly source: SourceWords;
  /** Whether the importer waits for it. */
  isWaiting(): boolean;
}

/** A source that runs, and what the suite has to know of it. */
export interface RunningSource {
  /** The words of the command line. */
  readonly source: SourceWords;
  /** The options that are given, by name. Default `{}`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** `--endpoint`. Default `null`. */
  readonly endpoint?: string | null;
  /**
   * The targets of the references in the config that the importer resolves. Default: no secrets, and files and paths as
   * they are.
   */
  readonly references?: FakeReferences;
  /**
   * Sources that cannot be used, by what is wrong: one that does not exist, an address at which nothing listens,
   * another format. Default none.
   */
  readonly unusable?: Readonly<Record<string, SourceWords>>;
  /** Sources that never answer. Default none, as for files. */
  readonly silent?: readonly SilentSource[];
  /** The places of the source, such as names of its operations, that have no route. Default none. */
  readonly leftOut?: readonly string[];
  /** Called once at the end. Default: nothing to do. */
  stop?(): Promise<void>;
}

/** An importer and what the suite needs to test it. */
export interface ImporterSubject {
  /** The importer under test. */
  // biome-ignore lint/suspicious/noExplicitAny: options differ from importer to importer
  readonly importer: Importer<any>;
  /**
   * The adapter of the kind that the importer writes. Default: that of another plugin, so that neither configs nor
   * operations are validated.
   */
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from adapter to adapter
  readonly adapter?: ProviderAdapter<any>;
  /** Starts a source with at least one operation. Called once per clause. */
  start(): Promise<RunningSource | SkippedStart>;
  /** Clauses that do not apply, by id, with the reason. Default none. */
  readonly except?: Readonly<Record<string, string>>;
  /** How long a clause waits for each step. Milliseconds, default 30,000. */
  readonly timeoutMs?: number;
}

/** Checks the types of a subject. */
export function defineImporterSubject(subject: ImporterSubject): ImporterSubject {
  return subject;
}
