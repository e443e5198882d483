import type { Log } from '../contract/index.js';
import type { UnreadableDirectory } from '../watch/directory.js';

/** @returns logs when the modules folder is lost, and when it is there again */
export function createDirectoryReport(log: Log): (error: UnreadableDirectory | null) => void {
  let wasLost = false;
  return (error) => {
    const isLost = error !== null;
    if (isLost === wasLost) return;
    wasLost = isLost;
    if (isLost) {
      log.error(
        { reason: error.message },
        'modules folder unavailable; serving the last loaded modules',
      );
    } else log.info({}, 'modules folder available again');
  };
}
