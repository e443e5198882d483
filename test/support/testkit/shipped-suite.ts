import { adapterSuite } from '../../../core/testkit/index.js';
import { SHIPPED } from './shipped-subjects.js';

/** Runs the subjects of a kind. Each kind has a test file, so that they run in parallel. */
export function shippedSuite(kind: string): void {
  for (const subject of SHIPPED) if (subject.adapter.kind === kind) adapterSuite(subject);
}
