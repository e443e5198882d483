import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

/** Sets a soft limit of a running process: its open files, or the size of a file that it writes. */
export function limitProcess(
  pid: number,
  subject: 'nofile' | 'fsize',
  limit: number | 'unlimited',
) {
  const soft = subject === 'nofile' && limit === 'unlimited' ? readHardLimit(pid) : limit;
  execFileSync('prlimit', ['--pid', String(pid), `--${subject}=${soft}:`]);
}

export function canLimitProcesses(): boolean {
  try {
    execFileSync('prlimit', ['--pid', String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function countDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function readHardLimit(pid: number): string {
  const args = ['--pid', String(pid), '--nofile', '--noheadings', '--output', 'HARD'];
  return execFileSync('prlimit', args, { encoding: 'utf8' }).trim();
}
