import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
/** Startup takes a second; a machine with many other processes needs far longer. */
const START_DEADLINE_MS = 60_000;
const SERVE = ['serve', '--env', 'production', '--host', '127.0.0.1', '--port', '0'];

export interface SpawnedHost {
  readonly child: ChildProcess;
  readonly listening: Promise<{ host: string; port: number }>;
  output(): string;
}

/** Starts a host in production on a free port of loopback. Its `listening` rejects with its output. */
export function spawnHost(
  args: readonly string[],
  variables: Readonly<Record<string, string>>,
): SpawnedHost {
  const child = spawn(process.execPath, [MAIN, ...SERVE, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const listening = new Promise<{ host: string; port: number }>((resolve, reject) => {
    const fail = () => reject(new Error(`the host did not start: ${output.slice(-2000)}`));
    const timer = setTimeout(fail, START_DEADLINE_MS);
    const read = (text: string) => {
      output += text;
      const url = /"url":"(https?:[^"]+)"/.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ host: new URL(url).hostname, port: Number(new URL(url).port) });
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('exit', fail);
  });
  return { child, listening, output: () => output };
}
