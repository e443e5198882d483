import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { drain, start } from '../../core/cli/commands/serve.js';
import { addSettings, readSettings } from '../../core/cli/setting-options.js';
import { SETTING_NAMES } from '../../core/config/settings.js';
import { createLog } from '../../core/log/logger.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `modgate serve` in a process of its own, or a host in the process of the test. */
export interface RunningModgate {
  readonly url: string;
  readonly port: number;
  /** The lines of the log so far, parsed. @throws when one is not JSON. */
  logs(): Record<string, unknown>[];
  /** All that was printed so far. */
  output(): string;
  /** Drains it. */
  stop(): Promise<Exit>;
  /** Ends it without a drain. Does nothing if it has ended. */
  kill(): Promise<void>;
}

/** On a machine that does other work too, a late event loop is no overload by the calls of a test. */
export const TEST_ENVIRONMENT = { MODGATE_SHED_DELAY_MS: '60000' };

/**
 * Starts a host in this process. It costs a tenth of a process of its own.
 * @param args those of `modgate serve`
 */
export async function openHost([, ...args]: readonly string[]): Promise<RunningModgate> {
  const settings = await readArguments(args);
  const lines: string[] = [];
  const parsed: Record<string, unknown>[] = [];
  const log = createLog(settings.config.logLevel, {
    write: (line) => void lines.push(line),
    close: async () => {},
  });
  const host = await start(settings, log);
  const url = readUrl(lines);
  const end = async (how: () => Promise<void>) => {
    await how();
    keepOutput(lines.join(''));
  };
  return {
    url,
    port: Number(new URL(url).port),
    logs: () => {
      for (const line of lines.slice(parsed.length)) parsed.push(JSON.parse(line));
      return [...parsed];
    },
    output: () => lines.join(''),
    stop: async () => {
      await end(() => drain(host, 'SIGTERM', log));
      return { code: 0, signal: null };
    },
    kill: () => end(() => host.close()),
  };
}

function readUrl(lines: readonly string[]): string {
  const listening = lines.find((line) => line.includes('"msg":"listening"')) ?? '{}';
  const { url } = JSON.parse(listening) as { url?: string };
  if (url === undefined) throw new Error(`no line 'listening': ${lines.join('')}`);
  return url;
}

async function readArguments(args: readonly string[]) {
  const command = new Command('serve').exitOverride().action(() => {});
  addSettings(command, SETTING_NAMES);
  await command.parseAsync(args, { from: 'user' });
  const context = {
    environment: TEST_ENVIRONMENT,
    print: async () => {},
    printError: () => {},
    exit: () => {
      throw new Error('a host in the process of the test cannot exit');
    },
  };
  return readSettings(SETTING_NAMES, command, context);
}

/** For `tools/scan-output.mjs`, which scans the output of all hosts of a test run. */
export function keepOutput(output: string): void {
  const folder = process.env['MODGATE_TEST_OUTPUT'];
  if (folder !== undefined) writeFileSync(join(folder, `${randomUUID()}.log`), output);
}
