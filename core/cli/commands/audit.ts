import type { Command } from 'commander';
import type { AuditRow } from '../../contract/audit-row.js';
import { ConfigError } from '../../errors.js';
import type { AuditFilter } from '../../store/audit-log.js';
import { type AuditReader, openAuditReader } from '../../store/audit-reader.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { parseSince } from '../parse-duration.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { addStoreSettings, readStoreSettings } from '../store-settings.js';

interface AuditOptions {
  readonly module?: string;
  readonly since?: string;
  readonly verify?: true;
}

const HELP = `
Prints rows by ascending id. --verify checks the whole chain and exits with 1 if it is broken.`;

export function define(command: Command): void {
  command
    .option('--module <name>', 'Only rows of this module')
    .option('--since <time>', 'Only rows since 2026-01-31T12:00:00Z, or in the last 10m')
    .option('--verify', 'Verify the chain instead of printing it')
    .addHelpText('after', HELP);
  addJsonOption(command, 'each row on a line');
  addStoreSettings(command);
}

/** Prints or verifies the audit log, also while a host is running. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const options = command.opts<AuditOptions>();
  const filter = parseFilter(options);
  const { store, state } = await readStoreSettings(command, context);
  const reader = await open(store, state);
  const isJson = isJsonRequested(command);
  try {
    return options.verify
      ? await verify(reader, isJson, context)
      : await print(reader, filter, isJson, context);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new CommandError(error.message);
    throw error;
  } finally {
    await reader.close();
  }
}

async function open(url: string | null, stateDir: string): Promise<AuditReader> {
  try {
    return await openAuditReader(url, stateDir);
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new ConfigError(error.message);
    throw error;
  }
}

function parseFilter({ module, since, verify }: AuditOptions): AuditFilter {
  if (verify && (module !== undefined || since !== undefined)) {
    throw new ConfigError('--verify checks the whole chain: remove --module and --since');
  }
  return {
    ...(module === undefined ? {} : { module }),
    ...(since === undefined ? {} : { since: parseSince(since)(Date.now()) }),
  };
}

async function verify(
  reader: AuditReader,
  isJson: boolean,
  { print }: CommandContext,
): Promise<ExitCode> {
  const result = await reader.verify();
  const { rows, brokenAt } = result;
  const reason = brokenAt === null ? null : result.reason;
  if (isJson) await print(`${JSON.stringify({ rows, broken_at: brokenAt, reason })}\n`);
  else if (brokenAt === null) await print(`audit chain intact, rows: ${rows}\n`);
  else await print(`audit chain broken at row ${brokenAt}: ${reason}\n`);
  return brokenAt === null ? EXIT.ok : EXIT.failure;
}

async function print(
  reader: AuditReader,
  filter: AuditFilter,
  isJson: boolean,
  context: CommandContext,
): Promise<ExitCode> {
  if (!isJson) await context.print(`${formatLine(HEADINGS)}\n`);
  for await (const row of reader.read(filter)) {
    await context.print(`${isJson ? JSON.stringify(row) : formatLine(toCells(row))}\n`);
  }
  return EXIT.ok;
}

const HEADINGS = ['id', 'at', 'actor', 'module', 'operation', 'target', 'permission', 'outcome'];
/** The usual widths of cells. The last column is not padded. */
const WIDTHS = [6, 24, 20, 16, 19, 24, 20, 0];

function toCells(row: AuditRow): string[] {
  const { id, at, actor, module, operation, target, permission, outcome } = row;
  return [`${id}`, at, `${actor.kind}:${actor.id}`, module, operation, target, permission, outcome];
}

function formatLine(cells: readonly string[]): string {
  return cells.map((cell, index) => toPrintable(cell).padEnd(WIDTHS[index] ?? 0)).join('  ');
}
