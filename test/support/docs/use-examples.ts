import { join } from 'node:path';
import { copyExamples } from '../copy-examples.js';
import { openHost, type RunningModgate } from '../open-host.js';
import { createFolder } from '../temporary-folder.js';
import { use } from '../use.js';
import { installModgate } from './install-modgate.js';

interface Examples {
  /** @throws before the hooks have run. */
  readonly host: RunningModgate;
  /** The state folder of the host. */
  readonly stateDir: string;
}

/**
 * Starts a host with the examples of the package, like `npm start`, for all tests of a `describe`.
 * `isInstalled`: `modgate` is in PATH meanwhile.
 */
export function useExamples({ isInstalled = false } = {}): Examples {
  const directory = createFolder();
  const stateDir = join(directory, 'state');
  let uninstall = () => {};

  const host = use(() =>
    openHost([
      ...['serve', '--env', 'development', '--port', '0'],
      ...['--modules', copyExamples(directory), '--state', stateDir],
    ]),
  );
  before(() => {
    if (isInstalled) uninstall = installModgate(join(directory, 'bin'));
  });
  after(() => uninstall());

  return { host, stateDir };
}
