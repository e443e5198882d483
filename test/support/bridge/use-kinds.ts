import { join } from 'node:path';
import { type ScriptedProvider, startProvider } from '../provider.js';
import { type RunningHost, startHost } from '../start-host.js';
import { createFolder } from '../temporary-folder.js';
import { use } from '../use.js';
import { createDescriptor, httpProvider } from './bridge.js';

interface KindsOptions {
  readonly manifest: Parameters<typeof createDescriptor>[1];
  /** The only permission that is granted. */
  readonly permission: string;
  readonly answer: Parameters<typeof startProvider>[0];
  /** The code of the module of kind `local`. */
  readonly local: string;
}

interface Kinds {
  readonly host: RunningHost;
  /** The providers of the modules `http` and `unix`. */
  readonly overTcp: ScriptedProvider;
  readonly overSocket: ScriptedProvider;
}

/** Starts a host with one module of each kind, named after it, for all tests of a `describe`. */
export function useKinds({ manifest, permission, answer, local }: KindsOptions): Kinds {
  const socketPath = join(createFolder(), 'provider.sock');
  const overTcp = use(() => startProvider(answer));
  const overSocket = use(() => startProvider(answer, { socketPath }));
  const host = use(() => {
    const describeKind = (kind: string, provider: object) =>
      createDescriptor(kind, manifest, [permission], { provider });
    return startHost({
      files: {
        'http.json': describeKind('http', httpProvider(overTcp.url)),
        'unix.json': describeKind('unix', { kind: 'unix', config: { socket: socketPath } }),
        'local.json': describeKind('local', { kind: 'local', config: { file: './local/own.mjs' } }),
        'local/own.mjs': local,
      },
    });
  });

  return { host, overTcp, overSocket };
}
