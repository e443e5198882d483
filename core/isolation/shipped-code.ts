import { basename } from 'node:path';
import type { ErrorOwner } from './error-owner.js';

const FRAME = /^\s+at /;

/** The owners by folder of the plugin, as it ends in the frames of a stack. */
const OWNERS = new Map<string, ErrorOwner>();
/** What plugins share, which the package also bundles here. */
const SHARED = '/plugins/shared/';
/** The first plugin: any is better than the host, which ends with its own errors. */
let ownerOfShared: ErrorOwner | null = null;

/**
 * Attributes uncaught errors to a shipped plugin by their stack. Its code runs without an owner, which in
 * Node.js 20 would cost time in each request of the host.
 */
export function attributeByStack(folder: string, owner: ErrorOwner): void {
  OWNERS.set(`/plugins/${basename(folder)}/`, owner);
  ownerOfShared ??= owner;
}

/** The shipped plugin whose code is on the stack of an error; `null` for the host's own errors. */
export function findShippedOwner(error: unknown): ErrorOwner | null {
  const stack = error instanceof Error ? error.stack : undefined;
  if (typeof stack !== 'string') return null;
  const frames = stack.split('\n').filter((line) => FRAME.test(line));
  const isIn = (folder: string) =>
    frames.some((frame) => frame.replaceAll('\\', '/').includes(folder));
  for (const [folder, owner] of OWNERS) if (isIn(folder)) return owner;
  return isIn(SHARED) ? ownerOfShared : null;
}
