import { adapterSuite } from '../../../core/testkit/index.js';
import { sideBySide } from '../side-by-side.js';
import { SHIPPED } from './shipped-subjects.js';

/** A subject of these kinds takes many seconds for them. */
export const SLOW_KINDS: readonly string[] = ['local', 'process'];
export const SLOW_CLAUSES: readonly string[] = ['lifetime.handles', 'lifetime.memory'];

const EXCEPTIONS = Object.fromEntries(
  SLOW_CLAUSES.map((id) => [id, 'takes long: test/load/measured/lifetimes.test.ts runs it']),
);

/** The clauses that count handles, memory or rejections of the process. */
const WHOLE_PROCESS = /^(?:close|lifetime)\.|^calls\.no-unhandled-rejection/;

/** Runs the subjects of a kind. Each kind has a test file, so that they run in parallel. */
export function shippedSuite(kind: string): void {
  const except = SLOW_KINDS.includes(kind) ? EXCEPTIONS : {};
  for (const subject of SHIPPED) {
    if (subject.adapter.kind !== kind) continue;
    const framework = sideBySide((title) => WHOLE_PROCESS.test(title));
    adapterSuite({ ...subject, except: { ...except, ...subject.except } }, framework);
  }
}
