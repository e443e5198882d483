import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/** Where controllers are mounted: version 2, then version 1 with its two usual names. */
const MOUNTS = { v2: ['', 'unified'], v1: ['cpu', 'cpu,cpuacct'] };

/**
 * The number of cores that this process may use: those of the machine, or the CPU quota of its cgroup
 * (versions 1 and 2) if that is smaller; at least 1. Node.js 20 does not know the quota.
 * @param root of the file system
 */
export function countCores(root = '/'): number {
  const quota = Math.floor(readQuota(root));
  return Math.max(1, Math.min(availableParallelism(), quota));
}

/** In cores; infinite without a quota. */
function readQuota(root: string): number {
  const lines = (readText(join(root, 'proc/self/cgroup')) ?? '').split('\n');
  const quotas = lines.flatMap((line) => {
    const [, controllers = '', group = ''] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (group === '') return [];
    if (controllers === '') return listQuotas(root, MOUNTS.v2, group, readVersion2);
    return controllers.split(',').includes('cpu')
      ? listQuotas(root, MOUNTS.v1, group, readVersion1)
      : [];
  });
  return Math.min(Number.POSITIVE_INFINITY, ...quotas);
}

/**
 * Of the group and its parents, each of which limits it. A container may have its group at the root of
 * the mount, although the path is that of the machine.
 */
function listQuotas(
  root: string,
  mounts: readonly string[],
  group: string,
  read: (folder: string) => number,
): number[] {
  const names = group.split('/').filter((name) => name !== '' && name !== '..');
  const groups = [...names.keys(), names.length].map((length) => names.slice(0, length));
  return mounts.flatMap((mount) =>
    groups.map((path) => read(join(root, 'sys/fs/cgroup', mount, ...path))),
  );
}

/** `cpu.max`: quota and period in microseconds, or `max`. */
function readVersion2(folder: string): number {
  const [quota, period] = (readText(join(folder, 'cpu.max')) ?? '').split(' ').map(Number);
  return toCores(quota, period);
}

function readVersion1(folder: string): number {
  const read = (name: string) => Number(readText(join(folder, name)) ?? Number.NaN);
  return toCores(read('cpu.cfs_quota_us'), read('cpu.cfs_period_us'));
}

function toCores(quota = Number.NaN, period = Number.NaN): number {
  return quota > 0 && period > 0 ? quota / period : Number.POSITIVE_INFINITY;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
