import type { Command } from 'commander';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import {
  MODULES_PATH,
  type ModuleEntry,
  type ModuleList,
  moduleList,
} from '../client/module-list.js';
import { printResource } from '../client/print-resource.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { shortenDigest } from '../output/short-digest.js';
import { formatTable } from '../output/table.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

export function define(command: Command): void {
  addHostOptions(command);
  command.option('--modules-only', 'Omit failing endpoints and ignored files');
  addJsonOption(command, "the host's response to GET /modules");
}

/** Prints the state of each descriptor in a running host. Exits with 0 for every state. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  if (isJsonRequested(command)) rejectOptions(command, ['modulesOnly'], 'with --json');
  const client = openHostClient(command, context);
  const { modulesOnly = false } = command.opts<{ modulesOnly?: boolean }>();
  const format = (list: ModuleList) =>
    formatStatus(list, Date.now() + client.clockSkewMs, modulesOnly);
  return printResource(command, context, MODULES_PATH, moduleList, format, client);
}

const COLUMNS = [
  'NAME',
  'STATE',
  { right: 'SINCE' },
  'DIGEST',
  { right: 'CALLS' },
  { right: 'FAILED' },
  { right: 'IN FLIGHT' },
];

type EndpointEntry = NonNullable<ModuleEntry['endpoints']>[number];

const GOOD_ENDPOINT_STATES: ReadonlySet<string> = new Set(['up', 'closed']);

function formatStatus(list: ModuleList, hostNow: number, modulesOnly: boolean): string {
  const { modules, ignored } = list;
  const cells = modules.map((module) => formatRow(module, hostNow));
  const [titles = '', ...rows] = formatTable(COLUMNS, cells);
  const lines = [titles];
  for (const [index, module] of modules.entries()) {
    lines.push(rows[index] ?? '', ...formatReason(module, modulesOnly));
  }
  lines.push('', formatSummary(modules));
  if (!modulesOnly) {
    for (const { file, reason } of ignored) {
      lines.push(`ignored: ${toPrintable(file)} (${toPrintable(reason)})`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function formatRow(module: ModuleEntry, hostNow: number): string[] {
  const { name, state, since, digest, counts } = module;
  return [
    toPrintable(name ?? '-'),
    toPrintable(state),
    formatAge(hostNow - Date.parse(since)),
    digest === null ? '-' : toPrintable(shortenDigest(digest)),
    String(counts.calls),
    String(counts.failed),
    String(counts.in_flight),
  ];
}

function formatReason(
  { file, reason, hint, endpoints, counts, resolve_error = null }: ModuleEntry,
  modulesOnly: boolean,
) {
  const lines: string[] = [];
  const { streams = 0 } = counts;
  if (streams > 0) lines.push(`  open streams: ${streams}`);
  if (reason !== null) lines.push(`  ${toPrintable(file)}: ${toPrintable(reason)}`);
  if (hint !== null) lines.push(`  hint: ${toPrintable(hint)}`);
  if (modulesOnly) return lines;
  if (resolve_error !== null) lines.push(`  endpoints: ${toPrintable(resolve_error)}`);
  return [...lines, ...(endpoints ?? []).flatMap(formatEndpoint)];
}

/** Formats the endpoint unless it is up, and its routes whose circuit breaker is not closed. */
function formatEndpoint({ endpoint, state, until, routes }: EndpointEntry): string[] {
  const name = toPrintable(endpoint);
  const ofEndpoint = `  endpoint ${name} is ${formatBreaker(state, until)}`;
  const ofRoutes = (routes ?? []).map(
    (breaker) =>
      `  route ${toPrintable(breaker.route)} at ${name} is ${formatBreaker(breaker.state, breaker.until)}`,
  );
  return GOOD_ENDPOINT_STATES.has(state) ? ofRoutes : [ofEndpoint, ...ofRoutes];
}

function formatBreaker(state: string, until: string | null | undefined): string {
  return until == null ? toPrintable(state) : `${toPrintable(state)} until ${toPrintable(until)}`;
}

/** `3 modules: 2 live, 1 refused` */
function formatSummary(modules: readonly ModuleEntry[]): string {
  const total = `${modules.length} module${modules.length === 1 ? '' : 's'}`;
  const counts = new Map<string, number>();
  for (const { state } of modules) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = [...counts].map(([state, count]) => `${count} ${toPrintable(state)}`);
  return parts.length === 0 ? total : `${total}: ${parts.join(', ')}`;
}

const AGE_UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** `12s`, `3m`, `5h` or `2d`, rounded down; `-` for NaN. */
function formatAge(ms: number): string {
  if (Number.isNaN(ms)) return '-';
  for (const [unit, unitMs] of AGE_UNITS) {
    if (ms >= unitMs) return `${Math.floor(ms / unitMs)}${unit}`;
  }
  return `${Math.max(0, Math.floor(ms / 1000))}s`;
}
