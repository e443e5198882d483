import { readFileSync } from 'node:fs';

/** Programs for tests, as arguments of `node --input-type=module -e`. */

/** Answers every request with what it got; ends with its stdin, as every child of the host should. */
export const ECHO = `
import { createServer } from 'node:http';
let configured = null;
const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const { pathname } = new URL(request.url, 'http://localhost');
    if (pathname === '/die') return process.exit(3);
    if (pathname === '/hang') return;
    if (pathname === '/_config') configured = JSON.parse(body);
    if (pathname === '/print') { console.log('to stdout'); console.error('to stderr'); }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({
      pid: process.pid, method: request.method, url: request.url, headers: request.headers, body,
      env: process.env, cwd: process.cwd(), configured, argument: process.argv[1],
    }));
  });
});
server.listen(process.env.MODGATE_SOCKET);
process.stdin.resume().on('end', () => process.exit());
`;

/** Heeds neither SIGTERM nor the end of its stdin, and has a child that does not either. */
export const STUBBORN = `
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
process.on('SIGTERM', () => {});
const grandchild = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"]);
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ pid: process.pid, grandchild: grandchild.pid }));
});
server.listen(process.env.MODGATE_SOCKET);
`;

export function command(program: string, ...args: readonly string[]): string[] {
  return [process.execPath, '--input-type=module', '-e', program, '--', ...args];
}

/** A zombie has exited. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // The system is not Linux, or the process has ended.
    return process.platform !== 'linux';
  }
}
