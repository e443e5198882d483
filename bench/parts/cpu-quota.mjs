import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Short, to keep the wait for the next period short. */
const PERIOD_MICROSECONDS = 10_000;
const V1 = '/sys/fs/cgroup/cpu';
const V2 = '/sys/fs/cgroup';

/** Whether processes can be given a share of a core: with control groups of Linux that may be written to. */
export function canLimit() {
  try {
    const folder = createGroup('modgate-bench-probe', 1);
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/**
 * Gives each of the processes a share of a core of its own, whatever else runs.
 * @param {readonly number[]} pids with all their threads
 * @param {number} share of a core, 0 to 1
 * @returns {() => void} to be called when they have ended
 */
export function limitEach(pids, share) {
  const folders = pids.map((pid) => {
    const folder = createGroup(`modgate-bench-${pid}`, share);
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    return folder;
  });
  return () => {
    for (const folder of folders) rmdirSync(folder);
  };
}

function createGroup(name, share) {
  const quota = String(Math.round(share * PERIOD_MICROSECONDS));
  const folder = join(existsSync(join(V1, 'cpu.cfs_quota_us')) ? V1 : V2, name);
  mkdirSync(folder);
  try {
    if (existsSync(join(folder, 'cpu.cfs_quota_us'))) {
      writeFileSync(join(folder, 'cpu.cfs_period_us'), String(PERIOD_MICROSECONDS));
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), quota);
      return folder;
    }
    writeFileSync(join(folder, 'cpu.max'), `${quota} ${PERIOD_MICROSECONDS}`);
    if (!readFileSync(join(folder, 'cpu.max'), 'utf8').startsWith(quota)) throw new Error('no limit was set');
    return folder;
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
}
