import { IdleThread } from '../lib/idle-thread.js';
import { type DigestedValue, digestValue } from './value-digest.js';

/**
 * The longest JSON that is digested on the main thread, which takes at most a few milliseconds: 1 MiB takes up to 50.
 */
const MAX_SHORT_LENGTH = 32_768;
/** The thread exits after this time without values. Milliseconds. */
const IDLE_MS = 30_000;

const thread = new IdleThread<DigestedValue, string>({
  entry: new URL('./digest-thread-entry.js', import.meta.url),
  name: 'digests',
  idleMs: IDLE_MS,
  resourceLimits: {},
});
/** Long values wait for each other; the bodies that they come from are bounded. */
let last: Promise<unknown> = Promise.resolve();

/** Computes a digest without blocking the event loop: a worker thread digests long values. */
export async function digestWithoutBlocking(value: DigestedValue): Promise<string> {
  if (value.json.length <= MAX_SHORT_LENGTH) return digestValue(value);
  const digest = last.then(() => digestInThread(value));
  last = digest.catch(() => {});
  return digest;
}

/** Runs on the main thread if the system lacks the resources for another one. */
function digestInThread({ json, key }: DigestedValue): Promise<string> {
  // A copy, because a part of a shared buffer would be sent with the whole buffer.
  const sent = typeof json === 'string' ? json : Uint8Array.prototype.slice.call(json);
  return thread.ask({ json: sent, key }).catch(() => digestValue({ json, key }));
}
