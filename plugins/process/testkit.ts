import { fileURLToPath } from 'node:url';
import {
  defineSubject,
  REFERENCE_FAULTS,
  REFERENCE_SECRET,
  type RunningReference,
} from '../../core/testkit/index.js';
import { processAdapter } from './process-adapter.js';

const CHILD = fileURLToPath(new URL('./reference-child.js', import.meta.url));

/** The adapter starts the reference itself. */
async function startReference(): Promise<RunningReference> {
  const { reference, value } = REFERENCE_SECRET;
  return {
    config: { command: [process.execPath, CHILD], env: { TOKEN: reference } },
    secrets: { [reference]: value },
    faults: REFERENCE_FAULTS,
    stop: async () => {},
  };
}

/** The subjects of `modgate test-plugin`. A process takes about 200 ms to start and exit. */
export const subjects = [
  defineSubject({
    adapter: processAdapter,
    start: startReference,
    cycles: 50,
  }),
];
