import type { ExplainedPath } from './explained-request.js';

/** What is to be said of such a path. */
export const BRIDGE_ANSWERS = 'the console bridge answers it, by its grants';

/** Contract 4: `/console-bridge/{permission}` is never a module's, by whatever method. */
export function isBridgePath(path: ExplainedPath): boolean {
  if (path.kind !== 'module') return false;
  return path.segments.length === 2 && path.segments[0] === 'console-bridge';
}
