import { adapterSuite } from '../../../core/testkit/index.js';
import { SHIPPED } from './shipped-subjects.js';

/** The subjects of a kind; a file a kind, so that they run beside each other. */
export function shippedSuite(kind: string): void {
  for (const subject of SHIPPED) if (subject.adapter.kind === kind) adapterSuite(subject);
}
