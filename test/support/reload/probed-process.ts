import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../http/wait-until.js';
import type { ProbeFigures } from './host-probe.js';

export interface Probe {
  readonly env: Readonly<Record<string, string>>;
  read(pid: number): Promise<ProbeFigures>;
  remove(): void;
}

const READ_MS = 30_000;

export function createProbe(): Probe {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-probe-'));
  const file = join(folder, 'figures.json');
  const preload = new URL('./host-probe.js', import.meta.url).href;
  let number = 0;
  const read = () => JSON.parse(readFileSync(file, 'utf8')) as ProbeFigures;
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, HOST_PROBE_FILE: file },
    read: async (pid) => {
      number += 1;
      process.kill(pid, 'SIGUSR2');
      const isWritten = () => existsSync(file) && read().number === number;
      await waitUntil('figures of the host', isWritten, READ_MS);
      return read();
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
