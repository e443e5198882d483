/**
 * A child leads a process group of its own, so that what it has started itself ends with it. However the host
 * ends by itself, no group outlives it; a host that is killed cannot do that, and its children read the end
 * of their stdin instead.
 */
const groups = new Set<number>();

export function rememberGroup(leader: number): void {
  if (groups.size === 0) process.on('exit', killAll);
  groups.add(leader);
}

export function forgetGroup(leader: number): void {
  groups.delete(leader);
  if (groups.size === 0) process.off('exit', killAll);
}

export function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch (error) {
    // It has ended, which is what was wanted; on macOS a group of zombies is EPERM.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

function killAll(): void {
  for (const leader of groups) signalGroup(leader, 'SIGKILL');
}
