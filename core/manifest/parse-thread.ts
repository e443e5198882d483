import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log, ManifestRoute } from '../contract/index.js';
import { type Diagnostic, InvalidFile } from '../document/diagnostic.js';
import { IdleThread } from '../lib/idle-thread.js';
import { type ManifestText, type ParsedText, parseText } from './parse-text.js';

/**
 * The longest text that is parsed on the main thread: that takes a few milliseconds, less than
 * starting a thread.
 */
export const MAX_SHORT_TEXT = 16_384;

/** How long an idle thread waits for another manifest before it exits. */
const IDLE_MS = 200;

export type ParseResult =
  /** `further` routes of the manifest follow on request. */
  | { readonly kind: 'parsed'; readonly parsed: ParsedText; readonly further: number }
  | { readonly kind: 'invalid'; readonly diagnostics: readonly Diagnostic[] };

/** Parses manifests one after another; short ones take one turn of the event loop each. */
let last: Promise<unknown> = Promise.resolve();
let lastLong: Promise<unknown> = Promise.resolve();
/** Parses the given manifest; `null` requests further routes of the previous one. */
const thread = new IdleThread<ManifestText | null, ParseResult | ManifestRoute[]>({
  entry: new URL('./parse-worker.js', import.meta.url),
  name: 'manifests',
  idleMs: IDLE_MS,
  resourceLimits: {},
});
let hasWarned = false;

/**
 * Parses a manifest without blocking the event loop: a long one in a worker thread, since 480 kB
 * take more than 100 ms.
 * @param log receives one warning if the system lacks the resources for a thread; `null` for none
 * @throws InvalidFile with all errors of the text or the manifest.
 */
export function parseManifestText(text: ManifestText, log: Log | null): Promise<ParsedText> {
  if (text.text.length > MAX_SHORT_TEXT) {
    const parsed = lastLong.then(() => parseInThread(text, log));
    lastLong = parsed.catch(() => {});
    return parsed;
  }
  const parsed = last.then(() => nextTurn()).then(() => parseText(text));
  last = parsed.catch(() => {});
  return parsed;
}

async function parseInThread(text: ManifestText, log: Log | null): Promise<ParsedText> {
  let result: ParseResult;
  try {
    result = await readWhole(text);
  } catch (error) {
    if (!hasWarned) log?.warn({ err: error, file: text.file }, 'manifest parsed without a thread');
    hasWarned = true;
    return parseText(text);
  }
  if (result.kind === 'invalid') throw new InvalidFile(result.diagnostics);
  return result.parsed;
}

/**
 * Reads the manifest in several messages, since reading a large one at once blocks the event loop.
 */
async function readWhole(text: ManifestText): Promise<ParseResult> {
  const result = (await thread.ask(text)) as ParseResult;
  if (result.kind === 'invalid' || result.further === 0) return result;
  const { manifest, ...parsed } = result.parsed;
  const routes = [...manifest.http_routes];
  const count = routes.length + result.further;
  while (routes.length < count) {
    await nextTurn();
    const next = (await thread.ask(null)) as ManifestRoute[];
    if (next.length === 0) throw new Error('the thread has lost the manifest');
    routes.push(...next);
  }
  return { ...result, parsed: { ...parsed, manifest: { ...manifest, http_routes: routes } } };
}
