import type { Command } from 'commander';
import type { ColumnKind } from '../../contract/listing.js';
import { ConfigError } from '../../errors.js';
import type { Listing } from '../../operations/listing.js';
import { AUDIT } from '../../operations/status/list-audit.js';
import type { AuditFilter, AuditReader } from '../../store/audit-log.js';
import { openAuditReader } from '../../store/open-store.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatItem, listColumns } from '../output/listing.js';
import { printResult } from '../output/print-result.js';
import { parseSince } from '../parse-duration.js';
import {
  addJsonOption,
  addStoreSettings,
  isJsonRequested,
  readStoreSettings,
} from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

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
  addUselessOptions(command, { 'with --verify': ['module', 'since'] });
}

/** Prints or verifies the audit log, also while a host is running. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { module, since, verify: verifies } = command.opts<AuditOptions>();
  const filter: AuditFilter = {
    ...(module !== undefined && { module }),
    ...(since !== undefined && { since: parseSince(since)(Date.now()) }),
  };
  const { store, state } = await readStoreSettings(command, context);
  const reader = await openAuditReader(store, state).catch(explainUnopened);
  try {
    if (verifies) return await verify(reader, command, context);
    const isJson = isJsonRequested(command);
    if (!isJson) await context.print(`${formatLine(HEADINGS)}\n`);
    for await (const row of reader.read(filter)) {
      const line = isJson
        ? JSON.stringify(row)
        : formatLine(formatItem(LISTING, COLUMNS, row, null));
      await context.print(`${line}\n`);
    }
    return EXIT.ok;
  } finally {
    await reader.close();
  }
}

/** An older store fails the command; the settings may name the wrong one otherwise. */
function explainUnopened(error: unknown): never {
  const isUsage = error instanceof StoreUnavailable && error.code !== 'older_schema';
  throw isUsage ? new ConfigError(error.message) : error;
}

async function verify(
  reader: AuditReader,
  command: Command,
  context: CommandContext,
): Promise<ExitCode> {
  const result = await reader.verify();
  const { rows, brokenAt } = result;
  const reason = brokenAt === null ? null : result.reason;
  await printResult(command, context, { rows, broken_at: brokenAt, reason }, () =>
    brokenAt === null
      ? `audit chain intact, rows: ${rows}\n`
      : `audit chain broken at row ${brokenAt}: ${reason}\n`,
  );
  return brokenAt === null ? EXIT.ok : EXIT.failure;
}

const LISTING = AUDIT.listing as Listing;
const COLUMNS = listColumns(LISTING, []);
const HEADINGS = COLUMNS.map(([, { title }]) => title.toUpperCase());
/** The usual widths of cells; rows are printed as they are read. */
const WIDTH = 20;
const WIDTHS: Readonly<Partial<Record<ColumnKind, number>>> = { number: 6, time: 24 };

function formatLine(cells: readonly string[]): string {
  const padded = cells.map((cell, index) => {
    const [, { as = 'text' } = {}] = COLUMNS[index] ?? [];
    return toPrintable(cell).padEnd(WIDTHS[as] ?? WIDTH);
  });
  return padded.join('  ').trimEnd();
}
