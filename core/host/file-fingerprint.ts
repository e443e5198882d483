import { type BigIntStats, stat } from 'node:fs';

/** Of a path that leads to nothing. */
export const MISSING = 'missing';

/**
 * Changes whenever the file may have: replaced, written to, or gone. Links are followed, so that an edit
 * behind one shows. Cheap enough to be taken of every file every two seconds, which reading is not.
 */
export function fingerprintFile(path: string): Promise<string> {
  // With a callback: of ten thousand files the promises of the library would be half of the price.
  return new Promise((resolve) => {
    stat(path, { bigint: true }, (error, status) => {
      resolve(error === null ? describe(status) : MISSING);
    });
  });
}

function describe({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

export async function fingerprintFiles(paths: readonly string[]): Promise<string> {
  const fingerprints = await Promise.all(paths.map(fingerprintFile));
  return fingerprints.join(' ');
}

/** Whether the first of the fingerprinted files was not there. */
export function isMissing(fingerprint: string): boolean {
  return fingerprint.split(' ', 1)[0] === MISSING;
}

/** Which file it is, whatever it is called and says: the device and the inode. */
export function readIdentity(fingerprint: string): string {
  return fingerprint.split(':', 2).join(':');
}
