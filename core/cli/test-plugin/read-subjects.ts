import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../../errors.js';
import type {
  AdapterSubject,
  AuthenticatorSubject,
  ImporterSubject,
  SignerSubject,
  SurfaceSubject,
} from '../../testkit/index.js';
import { toPrintable } from '../output/escape.js';

export type Subject =
  | AdapterSubject
  | AuthenticatorSubject
  | SurfaceSubject
  | SignerSubject
  | ImporterSubject;

/** The file beside the entry of a plugin that exports test subjects for the suites. */
const TESTKIT_FILE = 'testkit.js';

/** @throws ConfigError for a file that is missing, cannot be imported, or exports no subjects. */
export async function readSubjects(entryPath: string): Promise<readonly Subject[]> {
  const path = join(dirname(entryPath), TESTKIT_FILE);
  if (!(await isFile(path))) {
    throw new ConfigError(
      `${path} does not exist: build the plugin, or export the subjects of the suite there`,
    );
  }
  const { subjects } = await importFile(path);
  if (Array.isArray(subjects) && subjects.length > 0 && subjects.every(isSubject)) return subjects;
  throw new ConfigError(
    `${path} must export subjects: a list of { adapter, start }, { authenticator, start }, { importer, start }, { surface } or { signer }`,
  );
}

async function importFile(path: string): Promise<{ readonly subjects?: unknown }> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : `it threw a ${typeof cause}`;
    throw new ConfigError(`${path} cannot be imported: ${toPrintable(why)}`, { cause });
  }
}

function isSubject(value: unknown): value is Subject {
  if (typeof value !== 'object' || value === null) return false;
  const { start, adapter, authenticator, importer, surface, signer } = value as Record<
    string,
    unknown
  >;
  if (isObject(surface) || isObject(signer)) return true;
  const hasStart = typeof start === 'function';
  return hasStart && [adapter, authenticator, importer].some(isObject);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

export async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}
