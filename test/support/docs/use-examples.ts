import { join } from 'node:path';
import { expect } from 'chai';
import { copyExamples } from '../copy-examples.js';
import { openHost, type RunningModgate } from '../open-host.js';
import { started } from '../started.js';
import { createFolder } from '../temporary-folder.js';
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
  let host: RunningModgate | undefined;
  let stateDir = '';
  let directory: string | undefined;
  let uninstall = () => {};

  before(async () => {
    directory = createFolder();
    stateDir = join(directory, 'state');
    host = await openHost([
      ...['serve', '--env', 'development', '--port', '0'],
      ...['--modules', copyExamples(directory), '--state', stateDir],
    ]);
    if (isInstalled) uninstall = installModgate(join(directory, 'bin'));
  });

  after(async () => {
    uninstall();
    const exit = await host?.stop();
    if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  return {
    get host() {
      return started(host);
    },
    get stateDir() {
      return stateDir;
    },
  };
}
