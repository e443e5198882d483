import {
  type AdapterSubject,
  createReferenceModule,
  type RunningReference,
} from '../../../core/testkit/index.js';
import { createWait, startSubject } from '../../../core/testkit/start-subject.js';

/** Starts the reference of a subject outside of its suite. */
export function startReference(subject: AdapterSubject): Promise<RunningReference> {
  return startSubject(createWait(subject), () => subject.start(createReferenceModule()));
}
