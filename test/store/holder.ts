import { spawn } from 'node:child_process';
import { once } from 'node:events';

const PROGRAM = `
  const [file, how] = process.argv.slice(1);
  const database = new (require('libsql'))(file);
  if (how === 'everything') database.prepare('pragma locking_mode = exclusive').all([]);
  database.exec('begin exclusive');
  database.exec('create table held (id integer)');
  console.log('held');
  process.stdin.on('end', () => process.exit()).resume();
`;

/** Starts a process that holds a write or an exclusive lock. @returns releases it */
export async function holdLock(
  file: string,
  how: 'writing' | 'everything',
): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['-e', PROGRAM, file, how], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  if (child.exitCode !== null) throw new Error('the holder of the lock ended');
  return async () => {
    child.stdin.end();
    await exited;
  };
}
