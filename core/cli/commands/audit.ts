import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import type { AuditFilter } from '../../store/audit-log.js';
import { type AuditReader, openAuditReader } from '../../store/audit-reader.js';
import type { AuditRow } from '../../store/audit-row.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addSettings, readSettings } from '../setting-options.js';

interface AuditOptions {
  readonly module?: string;
  readonly since?: string;
  readonly store?: string;
  readonly json?: true;
  readonly verify?: true;
}

const HELP = `
Rows come by ascending id. --verify reads the whole chain and exits with 1 where it is broken.`;

export function define(command: Command): void {
  command
    .option('--module <name>', 'rows of this module alone')
    .option('--since <time>', 'rows of this date or time and later: 2026-01-31T12:00:00Z')
    .option('--json', 'print one JSON object a line')
    .option('--verify', 'verify the chain instead of printing it')
    .option('--store <url>', 'postgres://… (default: SQLite in the state folder)')
    .addHelpText('after', HELP);
  addSettings(command, ['state']);
}

/** Prints the audit, or verifies it, also beside a running host. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const options = command.opts<AuditOptions>();
  const filter = parseFilter(options);
  const { config } = await readSettings(['state'], command, context);
  const url = options.store ?? context.environment['MODGATE_STORE'];
  const reader = await open(url === undefined || url === '' ? null : url, config.state);
  try {
    return options.verify
      ? await verify(reader, options, context)
      : await print(reader, filter, options, context);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    process.stderr.write(`modgate: ${error.message}\n`);
    return EXIT.failure;
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
    throw new ConfigError('--verify reads the whole chain: give it no --module and no --since');
  }
  return {
    ...(module === undefined ? {} : { module }),
    ...(since === undefined ? {} : { since: parseTime(since) }),
  };
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

function parseTime(text: string): Date {
  const time = new Date(TIME.test(text) ? text : Number.NaN);
  if (Number.isNaN(time.getTime())) {
    throw new ConfigError(
      '--since must be a date (UTC), or a time with its zone such as 2026-01-31T12:00:00Z',
    );
  }
  return time;
}

async function verify(
  reader: AuditReader,
  { json }: AuditOptions,
  { print }: CommandContext,
): Promise<ExitCode> {
  const verdict = await reader.verify();
  const { rows, brokenAt } = verdict;
  const reason = brokenAt === null ? null : verdict.reason;
  if (json) await print(`${JSON.stringify({ rows, broken_at: brokenAt, reason })}\n`);
  else if (brokenAt === null) await print(`the audit chain is whole, rows: ${rows}\n`);
  else await print(`the audit chain is broken at row ${brokenAt}: ${reason}\n`);
  return brokenAt === null ? EXIT.ok : EXIT.failure;
}

async function print(
  reader: AuditReader,
  filter: AuditFilter,
  { json }: AuditOptions,
  context: CommandContext,
): Promise<ExitCode> {
  if (!json) await context.print(`${formatLine(HEADINGS)}\n`);
  for await (const row of reader.read(filter)) {
    await context.print(`${json ? JSON.stringify(row) : formatLine(toCells(row))}\n`);
  }
  return EXIT.ok;
}

const HEADINGS = ['id', 'at', 'actor', 'module', 'operation', 'target', 'permission', 'outcome'];
/** As wide as cells mostly are; the last one needs none. */
const WIDTHS = [6, 24, 20, 16, 19, 24, 20, 0];

function toCells(row: AuditRow): string[] {
  const { id, at, actor, module, operation, target, permission, outcome } = row;
  return [`${id}`, at, `${actor.kind}:${actor.id}`, module, operation, target, permission, outcome];
}

function formatLine(cells: readonly string[]): string {
  return cells.map((cell, index) => toPrintable(cell).padEnd(WIDTHS[index] ?? 0)).join('  ');
}

/** A name with control characters must not steer the terminal. */
function toPrintable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '?');
}
