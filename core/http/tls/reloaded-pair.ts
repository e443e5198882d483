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
  /** Called after `onChange` when the authorities of client certificates are others. */
  onClientCaChange: (() => void) | null;
  close(): Promise<void>;
}

/**
 * Reads certificate and key and reloads them when they change. An invalid or incomplete pair is logged; the
 * last good one stays in use.
 * @throws ConfigError when they cannot be used now.
 */
export async function openReloadedPair(files: TlsFiles, log: Log): Promise<ReloadedPair> {
  let current = await readTlsPair(files);
  let seen = digest(current);
  const reloads = { success: 0, failure: 0 };
  warnIfExposed(files, current, log);
  const check = async () => {
    const read = await readTlsPair(files).catch(keepConfigError);
    const now = read instanceof ConfigError ? read.message : digest(read);
    if (now === seen) return;
    seen = now;
    if (read instanceof ConfigError) {
      reloads.failure += 1;
      log.error({ reason: read.message }, 'certificate reload failed');
      return;
    }
    // The files are the last good ones again.
    if (digest(read) === digest(current)) return;
    const isCaChanged = digestBytes(read.ca) !== digestBytes(current.ca);
    current = read;
    reloads.success += 1;
    reloaded.onChange?.(read);
    if (isCaChanged) reloaded.onClientCaChange?.();
    warnIfExposed(files, read, log);
    const { validTo } = read.certificate;
    log.info({ file: files.cert, valid_to: validTo }, 'certificate reloaded');
  };
  const watched = [files.cert, files.key, ...(files.clientCa === null ? [] : [files.clientCa])];
  // One check at a time, whichever file changed.
  let checking = Promise.resolve();
  const checkNext = () => {
    checking = checking.then(check);
    return checking;
  };
  const watches = watched.map((file) => watchFile(file, checkNext));
  const reloaded: ReloadedPair = {
    get current() {
      return current;
    },
    reloads,
    onChange: null,
    onClientCaChange: null,
    close: async () => {
      await Promise.all(watches.map((watch) => watch.close()));
    },
  };
  return reloaded;
}

function keepConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  throw error;
}

function digest({ cert, key, ca }: TlsPair): string {
  return [cert, key, ca].map(digestBytes).join();
}

function digestBytes(bytes: Buffer | null): string {
  return hash('sha256', bytes ?? Buffer.alloc(0));
}

function warnIfExposed({ key }: TlsFiles, { isKeyExposed }: TlsPair, log: Log): void {
  if (!isKeyExposed) return;
  log.warn({ file: key }, 'private key readable by other users: chmod 600');
}
