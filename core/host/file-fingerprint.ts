import { stat } from 'node:fs/promises';

const MISSING = 'missing';

/**
 * Changes whenever the file may have: replaced, written to, or gone. Links are followed, so that an edit
 * behind one shows. Cheap enough to be taken of every file every two seconds, which reading is not.
 */
export async function fingerprintFile(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch {
    return MISSING;
  }
}

export async function fingerprintFiles(paths: readonly string[]): Promise<string> {
  const fingerprints = await Promise.all(paths.map(fingerprintFile));
  return fingerprints.join(' ');
}

/** Which file it is, whatever it is called and says: the device and the inode. */
export function readIdentity(fingerprint: string): string {
  return fingerprint.split(':', 2).join(':');
}
