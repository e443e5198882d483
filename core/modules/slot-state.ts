import type { Probation } from '../descriptor/descriptor.js';
import { digestText } from '../lib/hash.js';
import type { LoadedManifest } from '../manifest/load-manifest.js';
import { type DescriptorSource, UNREAD_SOURCE } from './descriptor-source.js';
import { type ModuleRecord, type ModuleState, REJECTED_STATES } from './module-record.js';
import type { ModuleVersion } from './module-version.js';
import { configDigestOf, type PreparedDescriptor } from './prepare-descriptor.js';
import type { RejectedVersion } from './probation.js';
import type { StateReason } from './state-reason.js';

/** A version with the manifest that it serves. */
export interface Serving {
  readonly version: ModuleVersion;
  readonly manifest: Pick<LoadedManifest, 'manifest' | 'digest' | 'written'>;
}

/** The purpose of opening a version. The last three open the stored last good version. */
export type Opening =
  | { readonly for: 'file' }
  | { readonly for: 'recovery'; readonly faulted: ModuleVersion }
  | { readonly for: 'fallback'; readonly before: null; readonly reason: StateReason }
  | { readonly for: 'rejectedFile'; readonly before: null; readonly prepared: PreparedDescriptor }
  | { readonly for: 'rollback'; readonly before: Serving; readonly reason: string };

/** The part of a record that changes together with the state, not when the file is read. */
export type Published = Omit<
  ModuleRecord,
  'file' | 'attempts' | 'live' | 'mounts' | 'uncaughtErrors'
>;

/** One descriptor file and its module. */
export interface SlotState {
  readonly file: string;
  /** The content of the file, which may not serve yet, or never. */
  readonly source: DescriptorSource;
  readonly serving: Serving | null;
  /** The version before the one on probation, still open; `null` without a probation. */
  readonly previous: Serving | null;
  /** The version that serves once its manifest has arrived. */
  readonly pending: ModuleVersion | null;
  /** The number of requests for the manifest of the pending version. */
  readonly attempts: number;
  /** A version whose code threw an uncaught error. It may serve until it is reopened. */
  readonly fault: { readonly version: ModuleVersion; readonly wasPending: boolean } | null;
  readonly opening: Opening | null;
  /** Events that wait until the opening ends: the latest of each kind. */
  readonly deferred: readonly SlotEvent[];
  /** A version that was rolled back. It is not opened again until the file changes. */
  readonly rejection: { readonly digest: string; readonly reason: string | null } | null;
  /** The name of the first uncaught error, by open version. */
  readonly errors: ReadonlyMap<ModuleVersion, string>;
  /** Uncaught errors of all versions. */
  readonly uncaughtErrors: number;
  /** The last state other than `faulted`, to which the module returns after a recovery. */
  readonly cause: { readonly state: ModuleState; readonly reason: StateReason | null };
  readonly published: Published;
  /** The file was removed, or the host stops. */
  readonly isEnded: boolean;
}

export interface SlotEvents {
  read: { readonly source: DescriptorSource };
  renamed: { readonly file: string };
  /**
   * The content takes effect, unless another file has its name or one of its mounts.
   * `storedRejection` is a digest. `asksAgain` is set after SIGHUP: a manifest from a URL or from the
   * provider may have changed, although the content has not.
   */
  applied: {
    readonly taken: StateReason | null;
    readonly storedRejection: string | null;
    readonly asksAgain?: boolean;
  };
  /** `errors` are uncaught errors of its code meanwhile. */
  opened: {
    readonly version: ModuleVersion;
    readonly errors: { readonly count: number; readonly first: string | null };
  };
  openFailed: { readonly reason: StateReason };
  manifestDue: { readonly version: ModuleVersion };
  manifestLoaded: { readonly version: ModuleVersion; readonly manifest: LoadedManifest };
  /** The manifest may arrive later; the last good one serves meanwhile, if there is one. */
  manifestUnavailable: {
    readonly version: ModuleVersion;
    readonly reason: StateReason;
    readonly lastGood: LoadedManifest | null;
  };
  manifestInvalid: { readonly version: ModuleVersion; readonly reason: StateReason };
  /** An uncaught error; `first` names the first one of the version. */
  threw: { readonly version: ModuleVersion; readonly first: string };
  reopenDue: { readonly version: ModuleVersion };
  /** `failure` is the reason of the failure; `null` when the version has passed. */
  probationEnded: { readonly version: ModuleVersion; readonly failure: string | null };
  /** Another worker has rolled back a version. */
  rejectedElsewhere: { readonly digest: string; readonly reason: string };
  /** The stored last good version was lost. */
  lastGoodLost: object;
  removed: object;
  /** The host stops. */
  closed: object;
}

export interface SlotEffects {
  /**
   * Opens the stored last good version if `prepared` is `null`. Ends with `opened` or `openFailed`.
   */
  open: { readonly file: string; readonly prepared: PreparedDescriptor | null };
  /** Closes at once. */
  close: { readonly version: ModuleVersion };
  /** The retired version is closed after its calls in flight. */
  serve: { readonly serving: Serving | null; readonly retired: ModuleVersion | null };
  /** Ends with `manifestLoaded`, `manifestUnavailable` or `manifestInvalid`. */
  requestManifest: { readonly version: ModuleVersion; readonly attempt: number };
  /** Ends with `manifestDue`. */
  retryManifest: { readonly version: ModuleVersion; readonly attempt: number };
  /** Ends with `reopenDue`. */
  retryOpening: { readonly version: ModuleVersion };
  startProbation: { readonly version: ModuleVersion; readonly rules: Probation };
  endProbation: object;
  /** Announces a rollback to the other workers. */
  announce: { readonly rejected: RejectedVersion };
  storeLastGood: {
    readonly file: string;
    readonly serving: Serving;
    readonly rejected: string | null;
  };
  removeLastGood: { readonly file: string };
  publish: {
    readonly record: Omit<ModuleRecord, 'live' | 'mounts'>;
    readonly changed: readonly string[];
  };
}

type OneOf<Kinds> = { [K in keyof Kinds]: { readonly kind: K } & Kinds[K] }[keyof Kinds];
export type SlotEvent = OneOf<SlotEvents>;
export type SlotEffect = OneOf<SlotEffects>;

const NO_ERRORS: SlotState['errors'] = new Map();

export function createSlotState(file: string, now: Date): SlotState {
  const reason = 'the descriptor is opened';
  return {
    file,
    source: UNREAD_SOURCE,
    serving: null,
    previous: null,
    pending: null,
    attempts: 0,
    fault: null,
    opening: null,
    deferred: [],
    rejection: null,
    errors: NO_ERRORS,
    uncaughtErrors: 0,
    cause: { state: 'waiting', reason: null },
    published: {
      ...{ state: 'waiting', since: now, reason, hint: null, name: null },
      ...{ descriptor: null, fileDigest: null, rejected: null },
    },
    isEnded: false,
  };
}

/** The record of a slot, without the serving version. */
export function describeSlot({ file, published, attempts, uncaughtErrors }: SlotState) {
  return { file, ...published, attempts, uncaughtErrors };
}

export function describeState(
  { source, serving, published }: SlotState,
  state: ModuleState,
  reason: StateReason | null,
  now: Date,
): Published {
  const { name, prepared, textDigest } = source;
  const served = serving?.version.prepared ?? null;
  const isRejected = REJECTED_STATES.has(state);
  return {
    state,
    since: state === published.state ? published.since : now,
    reason: reason?.reason ?? null,
    hint: reason?.hint ?? null,
    name: name ?? served?.descriptor.module ?? null,
    descriptor: (prepared ?? served)?.descriptor ?? null,
    fileDigest: isRejected ? served && digestText(served.text) : textDigest,
    rejected: isRejected ? describeRejected(source) : null,
  };
}

function describeRejected({ textDigest: file, prepared }: DescriptorSource): Published['rejected'] {
  const manifest = prepared?.manifest?.digest ?? null;
  const config = prepared && manifest && configDigestOf(prepared.inputDigest, manifest);
  return { file, manifest, config };
}

export function isVisibleChange(before: Published, after: Published): boolean {
  return (
    after.state !== before.state ||
    after.reason !== before.reason ||
    after.fileDigest !== before.fileDigest ||
    after.rejected?.file !== before.rejected?.file
  );
}
