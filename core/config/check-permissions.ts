import { opendirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../contract/index.js';
import { readModulesFolder } from './modules-folder.js';
import type { HostConfig } from './settings.js';

type CheckedSettings = Pick<
  HostConfig,
  'state' | 'modules' | 'plugins' | 'tokens' | 'issuers' | 'roles' | 'pluginDigests' | 'tlsClients'
>;

interface PermissionRule {
  /** Permission bits that others must not have. */
  readonly bits: number;
  readonly message: string;
  readonly kind: 'file' | 'folder' | 'folder and its files';
  readonly find: (settings: CheckedSettings) => readonly (string | null)[];
}

const ANYTHING_BY_OTHERS = 0o077;
// Group read access is allowed: a host may need a file that another user owns.
const WRITE_BY_OTHERS_OR_READ_BY_ALL = 0o026;
// Group write access is allowed: operators may share a group.
const WRITE_BY_ALL = 0o002;
/** Files of a folder that are checked, so that a full folder does not delay the start. */
const MAX_CHECKED_FILES = 1000;

const RULES: readonly PermissionRule[] = [
  {
    bits: ANYTHING_BY_OTHERS,
    message: 'others than its owner may read or change the state folder: chmod 700',
    kind: 'folder',
    find: ({ state }) => [state],
  },
  {
    bits: WRITE_BY_OTHERS_OR_READ_BY_ALL,
    message: 'others than its owner may read or change the tokens file: chmod 600',
    kind: 'file',
    find: ({ tokens }) => [tokens],
  },
  {
    bits: WRITE_BY_ALL,
    message: 'every user may change the modules folder: chmod -R o-w',
    kind: 'folder and its files',
    find: (config) => [readModulesFolder(config)],
  },
  {
    bits: WRITE_BY_ALL,
    message: 'every user may change the plugins folder: chmod -R o-w',
    kind: 'folder and its files',
    find: ({ plugins }) =>
      (plugins ?? []).flatMap((source) => (source.kind === 'folder' ? source.path : [])),
  },
  {
    bits: WRITE_BY_ALL,
    message: 'every user may change the issuers file: chmod o-w',
    kind: 'file',
    find: ({ issuers }) => [issuers],
  },
  {
    bits: WRITE_BY_ALL,
    message: 'every user may change the roles file: chmod o-w',
    kind: 'file',
    find: ({ roles }) => [roles],
  },
  {
    bits: WRITE_BY_ALL,
    message: 'every user may change the file of plugin digests: chmod o-w',
    kind: 'file',
    find: ({ pluginDigests }) => [pluginDigests],
  },
  {
    bits: WRITE_BY_ALL,
    message: 'every user may change the file of client certificates: chmod o-w',
    kind: 'file',
    find: ({ tlsClients }) => [tlsClients],
  },
];

/** Warns if other users can read secrets, or change who may call what. */
export function warnOfOpenPermissions(settings: CheckedSettings, log: Log): void {
  for (const rule of RULES) {
    for (const path of rule.find(settings)) {
      const fields = path === null ? null : findOpenPath(path, rule);
      if (fields !== null) log.warn(fields, rule.message);
    }
  }
}

function findOpenPath(path: string, { bits, kind }: PermissionRule) {
  if (isOpen(path, bits)) return kind === 'file' ? { file: path } : { folder: path };
  if (kind !== 'folder and its files') return null;
  const file = listFiles(path).find((one) => isOpen(one, bits));
  return file === undefined ? null : { folder: path, file };
}

/** Files and folders directly in a folder; none if it cannot be read. */
function listFiles(folder: string): string[] {
  const files: string[] = [];
  try {
    const directory = opendirSync(folder);
    try {
      while (files.length < MAX_CHECKED_FILES) {
        const entry = directory.readSync();
        if (entry === null) break;
        files.push(join(folder, entry.name));
      }
    } finally {
      directory.closeSync();
    }
  } catch {
    // A missing or unreadable folder is reported when it is used.
  }
  return files;
}

function isOpen(path: string, bits: number): boolean {
  // Windows has no such bits; Node returns arbitrary ones.
  if (process.platform === 'win32') return false;
  try {
    return (statSync(path).mode & bits) !== 0;
  } catch {
    // A missing or unreadable path is reported when it is used.
    return false;
  }
}
