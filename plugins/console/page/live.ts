import { signal } from '@preact/signals';
import { hashList } from '../live/list-hash.js';
import { API } from '../paths.js';
import { endSession, get, isSignedIn } from './api.js';
import { parseJson } from './exact-json.js';
import type {
  CallRecord,
  ListedApproval,
  ModuleStatus,
  Problem,
  Sample,
  SessionEnd,
} from './types.js';

/**
 * `lost`: the host does not respond; the browser keeps trying. `polling`: other pages of the browser
 * have the streams.
 */
export const connection = signal<'connecting' | 'live' | 'lost' | 'polling'>('connecting');
/** The modules by name, then by file. `undefined` until they are read. */
export const modules = signal<readonly ModuleStatus[] | undefined>(undefined);
export const modulesProblem = signal<Problem | null>(null);
export const ignoredFiles = signal<readonly { readonly file: string; readonly reason: string }[]>(
  [],
);
export const samples = signal<readonly Sample[]>([]);
/** Changes whenever the page must read its data again: after a restart or a lost connection. */
export const epoch = signal(0);

/** The samples of 15 minutes. */
const MAX_SAMPLES = 90;
const CALLS_LIMIT = 500;
/** The stream is opened again after this time without an event: the host sends one every 4 s. */
const MAX_SILENCE_MS = 20_000;
const WATCH_MS = 5000;
const MAX_HIDDEN_MS = 10_000;
/** Over HTTP/1.1 a browser has six connections to a host: two stay free for pages and requests. */
const MAX_STREAMS = 4;
/** A read that takes longer does not delay the next one. */
const MAX_READ_MS = 30_000;

let source: EventSource | null = null;
/** Aborted when the page closes its stream, or no longer waits for one. */
let following: AbortController | null = null;
/** Lets another page of the browser have a stream. */
let releasePlace: (() => void) | null = null;
let boot: string | null = null;
let heardAt = 0;
let hiding: ReturnType<typeof setTimeout> | undefined;
let isPaused = false;
let watch: ReturnType<typeof setInterval> | undefined;
/** The start of the pending read of the list. */
let readingSince: number | null = null;
/** The number of events with changes of modules. */
let changes = 0;

/** Events that the stream contains only while a page listens to them. */
interface Extra<T> {
  readonly name: string;
  readonly listeners: Set<(values: readonly T[]) => void>;
}

const calls: Extra<CallRecord> = { name: 'calls', listeners: new Set() };
const approvals: Extra<ListedApproval> = { name: 'approvals', listeners: new Set() };

type Changes = { changed: (Partial<ModuleStatus> & { file: string })[]; removed: string[] };
type CountChanges = { modules: Record<string, [number, number, number, number, number]> };

/** Follows the host until `disconnect`. */
export function connect(): void {
  closeStream();
  connection.value = 'connecting';
  if (document.hidden && heardAt === 0) {
    // Many pages may be opened in the background at once.
    isPaused = true;
    return;
  }
  following = new AbortController();
  const { signal: closed } = following;
  watch = setInterval(reopenSilent, WATCH_MS);
  followVisibility();
  void waitForPlace(closed).then(() => {
    if (!closed.aborted) openStream();
  });
}

/** Resolves when fewer than `MAX_STREAMS` other pages have a stream. Until then the page polls modules. */
async function waitForPlace(closed: AbortSignal): Promise<void> {
  // Browsers have locks for pages from HTTPS and loopback only.
  if (releasePlace !== null || navigator.locks === undefined || isMultiplexed()) return;
  while (!(await takePlace(closed)) && !closed.aborted) {
    connection.value = 'polling';
    if (!isReading()) void readAll();
    await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  }
}

/** HTTP/2 and HTTP/3 carry all streams in one connection. */
function isMultiplexed(): boolean {
  const entries = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return /^h[23]/.test(entries[0]?.nextHopProtocol ?? '');
}

/** Returns `false` if other pages have all places. */
async function takePlace(closed: AbortSignal): Promise<boolean> {
  for (let place = 0; place < MAX_STREAMS; place += 1) {
    if (await holdLock(`modgate-events-${place}`, closed)) return true;
  }
  return false;
}

/** A browser that forbids locks, such as for a page without storage, counts as a free place. */
function holdLock(name: string, closed: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const held = navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      if (lock === null || closed.aborted) return;
      return new Promise<void>((release) => {
        releasePlace = release;
      });
    });
    held.catch(() => resolve(true));
  });
}

function openStream(): void {
  const extras = [calls, approvals].filter(({ listeners }) => listeners.size > 0);
  const search = extras.map(({ name }) => `${name}=true`).join('&');
  source = new EventSource(`${API}/events${search && `?${search}`}`);
  source.addEventListener('error', () => void onError());
  on<{ boot: string }>('hello', (event) => {
    const isNew = boot !== null && boot !== event.boot;
    const hasMissed = connection.value === 'lost' || connection.value === 'polling';
    boot = event.boot;
    connection.value = 'live';
    if (isNew || hasMissed) epoch.value += 1;
    void readAll();
  });
  on<{ list: number | null }>('alive', ({ list }) => {
    if (list !== null && !isReading() && list !== hashShown()) void readAll();
  });
  on<Changes>('modules', applyChanges);
  on<CountChanges>('counts', applyCounts);
  on<Sample>('sample', (sample) => {
    samples.value = [...samples.value, sample].slice(-MAX_SAMPLES);
  });
  on<{ calls: CallRecord[] }>('calls', (event) => {
    for (const listener of calls.listeners) listener(event.calls.slice(-CALLS_LIMIT));
  });
  on<{ approvals: ListedApproval[] }>('approvals', (event) => {
    for (const listener of approvals.listeners) listener(event.approvals);
  });
  on<{ ended: SessionEnd }>('session', ({ ended }) => endSession(ended));
}

export function disconnect(): void {
  closeStream();
  releasePlace?.();
  releasePlace = null;
}

function closeStream(): void {
  isPaused = false;
  clearInterval(watch);
  following?.abort();
  following = null;
  source?.close();
  source = null;
}

/**
 * Closes the stream of a page in the background: a browser opens six connections to a host for all
 * its tabs, and a seventh stream would prevent every page from loading.
 */
export function followVisibility(): void {
  clearTimeout(hiding);
  if (document.hidden) hiding = setTimeout(pause, MAX_HIDDEN_MS);
  else if (isPaused) resume();
}

function pause(): void {
  if (following === null) return;
  disconnect();
  isPaused = true;
}

function resume(): void {
  isPaused = false;
  if (isSignedIn()) reconnect();
}

/** Follows the host again: what has changed meanwhile is read as after a lost connection. */
export function reconnect(): void {
  connect();
  connection.value = 'lost';
}

/** Called with new calls, oldest first. @returns a function that removes the listener */
export function listenToCalls(listener: (calls: readonly CallRecord[]) => void): () => void {
  return listenTo(calls, listener);
}

/**
 * Called with all requests for approval when they change. @returns a function that removes the
 * listener
 */
export function listenToApprovals(
  listener: (approvals: readonly ListedApproval[]) => void,
): () => void {
  return listenTo(approvals, listener);
}

function listenTo<T>(
  { listeners }: Extra<T>,
  listener: (values: readonly T[]) => void,
): () => void {
  listeners.add(listener);
  if (listeners.size === 1 && source !== null) connect();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && source !== null) connect();
  };
}

function isReading(): boolean {
  return readingSince !== null && Date.now() - readingSince < MAX_READ_MS;
}

/** Reads the state of all modules again. */
export async function readAll(): Promise<void> {
  const before = changes;
  const startedAt = Date.now();
  readingSince = startedAt;
  const [status, history] = await Promise.all([
    get<{ modules: ModuleStatus[]; ignored: { file: string; reason: string }[] }>('/modules'),
    get<{ samples: Sample[] }>('/samples'),
  ]);
  modulesProblem.value = status.ok ? null : status.problem;
  if (status.ok) {
    modules.value = sort(status.data.modules);
    ignoredFiles.value = status.data.ignored ?? [];
  } else if (status.status === 403) {
    // Another session may have read them.
    modules.value = undefined;
  }
  if (history.ok) samples.value = history.data.samples;
  // Later changes may be newer than the response.
  if (readingSince === startedAt) readingSince = null;
  if (changes !== before) await readAll();
}

function on<T>(name: string, listener: (data: T) => void): void {
  source?.addEventListener(name, (event) => {
    heardAt = Date.now();
    listener(parseJson((event as MessageEvent).data) as T);
  });
}

/** Detects a connection that stays open after its network was lost. */
function reopenSilent(): void {
  if (source?.readyState !== EventSource.OPEN || Date.now() - heardAt < MAX_SILENCE_MS) return;
  reconnect();
}

/** Returns `undefined` before the first list. */
function hashShown(): number | undefined {
  const listed = modules.value?.map((module) => ({
    ...module,
    configDigest: module.config_digest ?? null,
  }));
  return listed && hashList(listed, ignoredFiles.value);
}

/**
 * Handles responses other than an event stream, such as a 401, after which a browser does not
 * reconnect.
 */
async function onError(): Promise<void> {
  connection.value = 'lost';
  if (source?.readyState !== EventSource.CLOSED) return;
  const failed = source;
  await get('/session');
  setTimeout(() => {
    if (isSignedIn() && source === failed) connect();
  }, 2000);
}

function applyChanges({ changed, removed }: Changes): void {
  changes += 1;
  const byFile = new Map((modules.value ?? []).map((module) => [module.file, module]));
  for (const file of removed) byFile.delete(file);
  let isIncomplete = false;
  for (const module of changed) {
    const before = byFile.get(module.file);
    // The event lacks grants and the digests of rejected versions.
    if (before === undefined || before.config_digest !== module.config_digest) isIncomplete = true;
    else byFile.set(module.file, { ...before, ...module });
  }
  modules.value = sort([...byFile.values()]);
  if (isIncomplete) void readAll();
}

function applyCounts({ modules: counts }: CountChanges): void {
  modules.value = modules.value?.map((module) => {
    const { name } = module;
    // A module may have the name of a member that objects inherit.
    const now = name !== null && Object.hasOwn(counts, name) ? counts[name] : undefined;
    if (now === undefined) return module;
    const [calls, failed, in_flight, queued, streams] = now;
    return { ...module, counts: { calls, failed, in_flight, queued, streams } };
  });
}

function sort(all: readonly ModuleStatus[]): ModuleStatus[] {
  const keyOf = ({ name, file }: ModuleStatus) => name ?? `\uffff${file}`;
  return all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}
