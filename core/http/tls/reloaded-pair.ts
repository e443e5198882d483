import { hash } from 'node:crypto';
import type { Log } from '../../contract/index.js';
import { ConfigError } from '../../errors.js';
import { watchFile } from '../../watch/file-watcher.js';
import { readTlsPair, type TlsFiles, type TlsPair } from './key-pair.js';

export interface ReloadedPair {
  readonly current: TlsPair;
  readonly reloads: { readonly success: number; readonly failure: number };
  /** Called with each new pair. */
  onChange: ((pair: TlsPair) => void) | null;
  close(): Promise<void>;
}

/**
 * Reads certificate and key and follows both. A new pair counts once it is whole: one that is bad, or half
 * there, is logged and changes nothing.
 * @throws ConfigError when they cannot be used now.
 */
export async function openReloadedPair(files: TlsFiles, log: Log): Promise<ReloadedPair> {
  let current = await readTlsPair(files);
  let seen = digest(current);
  const reloads = { success: 0, failure: 0 };
  reportExposure(files, current, log);
  const look = async () => {
    const read = await readTlsPair(files).catch(keepConfigError);
    const now = read instanceof ConfigError ? read.message : digest(read);
    if (now === seen) return;
    seen = now;
    if (read instanceof ConfigError) {
      reloads.failure += 1;
      log.error({ reason: read.message }, 'the new certificate is bad; the last good one is kept');
      return;
    }
    // What was good, went bad, and is the same again.
    if (digest(read) === digest(current)) return;
    current = read;
    reloads.success += 1;
    followed.onChange?.(read);
    reportExposure(files, read, log);
    const { validTo } = read.certificate;
    log.info({ file: files.cert, valid_to: validTo }, 'the certificate was read again');
  };
  const watched = [files.cert, files.key, ...(files.clientCa === null ? [] : [files.clientCa])];
  // One look at a time, whichever file it was that changed.
  let looking = Promise.resolve();
  const lookInTurn = () => {
    looking = looking.then(look);
    return looking;
  };
  const watches = watched.map((file) => watchFile(file, lookInTurn));
  const followed: ReloadedPair = {
    get current() {
      return current;
    },
    reloads,
    onChange: null,
    close: async () => {
      await Promise.all(watches.map((watch) => watch.close()));
    },
  };
  return followed;
}

function keepConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  throw error;
}

function digest({ cert, key, ca }: TlsPair): string {
  return [cert, key, ca ?? Buffer.alloc(0)].map((bytes) => hash('sha256', bytes)).join();
}

function reportExposure({ key }: TlsFiles, { isKeyExposed }: TlsPair, log: Log): void {
  if (!isKeyExposed) return;
  log.warn({ file: key }, 'others than its owner may read the private key: chmod 600');
}
