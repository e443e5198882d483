/**
 * Each child leads a process group, so that its own children end with it. When the host exits, all groups
 * are killed; when the host itself is killed, the children see the end of their stdin.
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
    // The group has already exited; on macOS a group of zombies is EPERM.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

function killAll(): void {
  for (const leader of groups) signalGroup(leader, 'SIGKILL');
}
