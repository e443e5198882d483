import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ReleasesStatus } from '../../core/contract/release-status.js';
import type { ReceivedResponse } from '../../core/selftest/raw-http.js';
import { type Ended, runHere } from './cli/run-here.js';
import { call, JSON_TYPE, parseJson } from './http/call.js';
import { createFolder } from './temporary-folder.js';

/** A publisher without the right to code. */
export const PUBLISHER = 'dev-service:publisher:modgate.releases';
export const CODE_PUBLISHER = `${PUBLISHER},modgate.releases.code`;

type Address = { readonly port: number };

interface Workspace {
  readonly folder: string;
  /** The release in `.modgate-release`. */
  base(): string | null;
  write(name: string, content: string | object): void;
  remove(name: string): void;
  /** Runs a command against a host. */
  run(host: { readonly url: string }, ...args: string[]): Promise<Ended>;
  publish(host: { readonly url: string }, ...args: string[]): Promise<Ended>;
}

/** A folder of descriptors to publish, new for each test. */
export function useWorkspace(token = CODE_PUBLISHER): Workspace {
  let directory = '';
  beforeEach(() => {
    directory = createFolder();
    mkdirSync(join(directory, 'modules.d'));
  });
  const workspace: Workspace = {
    get folder() {
      return join(directory, 'modules.d');
    },
    base: () => {
      const file = join(directory, '.modgate-release');
      return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
    },
    write: (name, content) => {
      const file = join(workspace.folder, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    },
    remove: (name) => rmSync(join(workspace.folder, name)),
    run: (host, ...args) => runHere([...args, '--url', host.url], { MODGATE_TOKEN: token }),
    publish: (host, ...args) => workspace.run(host, 'publish', workspace.folder, ...args),
  };
  return workspace;
}

/** Sends a release as it is, without the checks of the command. */
export function sendRelease(
  host: Address,
  files: Readonly<Record<string, string | object>>,
  overrides: object = {},
  as = PUBLISHER,
): Promise<ReceivedResponse> {
  const encoded = Object.entries(files).map(([path, content]) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    return [path, Buffer.from(text).toString('base64')];
  });
  return sendJson(
    host,
    '/releases',
    { files: Object.fromEntries(encoded), base: null, ...overrides },
    as,
  );
}

export function sendJson(
  host: Address,
  target: string,
  value: unknown,
  as = PUBLISHER,
): Promise<ReceivedResponse> {
  const body = Buffer.from(JSON.stringify(value));
  return call(host, { method: 'POST', target, body, headers: [JSON_TYPE], as });
}

export async function readReleases(host: Address): Promise<ReleasesStatus> {
  return parseJson(await call(host, { target: '/releases' })) as unknown as ReleasesStatus;
}
