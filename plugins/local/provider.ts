import type { OpenContext, Provider } from '../../core/contract/index.js';
import type { LocalModule } from './handler.js';
import { createLocalRunner } from './local-runner.js';
import { untilAborted } from './until-aborted.js';

/** The provider of a module in the host's own thread. */
export function createLocalProvider(module: LocalModule, context: OpenContext): Provider {
  const { run, readManifest } = createLocalRunner(module, context);
  return {
    manifest: async () => readManifest(),
    // The module is imported, so there is nothing to check.
    check: async () => {},
    invoke: (invocation) =>
      untilAborted(invocation.cancellation ?? invocation.signal, () => run(invocation)),
  };
}
