import { statfs } from 'node:fs/promises';

/**
 * The numbers by which `statfs(2)` names local file systems of Linux: whatever is written to a file there is told to who
 * watches its folder (inotify(7)). Of any other, one of a network say, that is not known.
 */
const TELLING_TYPES: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Whether events tell of each change of a plain file in the folder; `false` where that is not known. */
export async function isTelling(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  try {
    return TELLING_TYPES.has((await statfs(folder)).type);
  } catch {
    return false;
  }
}
