import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';

const ROOT = '/sys/fs/cgroup/cpu';
const PERIOD_US = 100_000;

/** A cgroup (version 1) with a quota of CPU time, for processes that this one starts in it. */
interface CpuGroup {
  enter(): void;
  leave(): void;
  remove(): void;
}

/** @returns `null` where this process may not make one */
export function createCpuGroup(cores: number): CpuGroup | null {
  const folder = `${ROOT}/modgate-${process.pid}`;
  const [, own = ''] = /^\d+:(?:cpu|cpu,cpuacct):(.*)$/m.exec(readCgroups()) ?? [];
  if (!existsSync(`${ROOT}${own}/cgroup.procs`)) return null;
  const move = (to: string) => writeFileSync(`${to}/cgroup.procs`, String(process.pid));
  try {
    mkdirSync(folder);
    writeFileSync(`${folder}/cpu.cfs_quota_us`, String(cores * PERIOD_US));
  } catch {
    return null;
  }
  return {
    enter: () => move(folder),
    leave: () => move(ROOT + own),
    remove: () => rmdirSync(folder),
  };
}

function readCgroups(): string {
  return existsSync('/proc/self/cgroup') ? readFileSync('/proc/self/cgroup', 'utf8') : '';
}
