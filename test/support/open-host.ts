import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { drain, requireFolders, start } from '../../core/cli/commands/serve.js';
import { addSettings, readSettings } from '../../core/cli/setting-options.js';
import { SETTING_NAMES } from '../../core/config/settings.js';
import { createLog } from '../../core/log/logger.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Environment = Readonly<Record<string, string>>;

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

/** High, because a late event loop on a busy machine is not an overload by the calls of a test. */
export const TEST_ENVIRONMENT = { MODGATE_SHED_DELAY_MS: '60000' };

/**
 * Starts a host in this process. It costs a tenth of a process of its own.
 * @param args those of `modgate serve`
 * @param env set in this process until the host ends
 * @param lines gets those of the log
 */
export async function openHost(
  [, ...args]: readonly string[],
  env: Environment = {},
  lines: string[] = [],
): Promise<RunningModgate> {
  const settings = await readArguments(args, { ...TEST_ENVIRONMENT, ...env });
  await requireFolders(settings);
  const parsed: Record<string, unknown>[] = [];
  const log = createLog(settings.config.logLevel, {
    write: (line) => void lines.push(`${line}\n`),
    close: async () => {},
  });
  const restore = setVariables(env);
  const finish = () => {
    restore();
    keepOutput(lines.join(''));
  };
  const host = await start(settings, log).catch((error) => {
    finish();
    throw error;
  });
  const url = readUrl(lines);
  const end = (how: () => Promise<void>) => how().finally(finish);
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

/** @returns restores the previous values */
export function setVariables(env: Environment): () => void {
  const previous = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  return () => {
    for (const [name, value] of previous) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

async function readArguments(args: readonly string[], environment: Environment) {
  const command = new Command('serve').exitOverride().action(() => {});
  addSettings(command, SETTING_NAMES);
  await command.parseAsync(args, { from: 'user' });
  const context = {
    environment,
    print: async () => {},
    printError: () => {},
    exit: () => {
      throw new Error('a host in the process of the test cannot exit');
    },
  };
  return readSettings(SETTING_NAMES, command, context);
}

/** Used by `tools/scan-output.mjs`, which scans the output of all hosts of a test run. */
export function keepOutput(output: string): void {
  const folder = process.env['MODGATE_TEST_OUTPUT'];
  if (folder !== undefined) writeFileSync(join(folder, `${randomUUID()}.log`), output);
}
