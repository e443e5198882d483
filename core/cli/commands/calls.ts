import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { type CallEntry, callList } from '../client/call-list.js';
import type { HostClient } from '../client/host-client.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { requestJson } from '../client/host-response.js';
import { printResource } from '../client/print-resource.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { parseSince } from '../parse-duration.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';

/** The maximum of `GET /calls`. */
const PAGE_LIMIT = '1000';

interface CallsOptions {
  readonly module?: string;
  readonly status?: string;
  readonly since?: string;
  readonly limit?: string;
  readonly follow?: true;
}

const FOLLOW_INTERVAL_MS = 500;
const LIMIT = { min: 1, max: 1000 };
const STATUS = { min: 100, max: 599 };
const EPOCH = new Date(0).toISOString();

export function define(command: Command): void {
  addHostOptions(command);
  command
    .option('--module <name>', 'Only calls of this module')
    .option('--status <status>', 'Only calls with this status')
    .option('--since <time>', 'Only calls since 2026-01-31T12:00:00Z, or in the last 10m')
    .option(
      '--limit <number>',
      `Maximum number of calls, ${LIMIT.min} to ${LIMIT.max} (default: 100)`,
    )
    .option('--follow', 'Print calls as they complete, until interrupted');
  addJsonOption(command, "the host's response to GET /calls, with --follow one call per line,");
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const client = openHostClient(command, context);
  const options = command.opts<CallsOptions>();
  const filters = readFilters(options);
  const sinceOf = readSince(options);
  if (options.follow) return follow(client, filters, sinceOf, command, context);
  const query = new URLSearchParams(filters);
  const since = sinceOf(client);
  if (since !== null) query.set('since', since);
  return printResource(command, context, `/calls?${query}`, callList, formatCalls, client);
}

async function follow(
  client: HostClient,
  { limit: _, ...filters }: Readonly<Record<string, string>>,
  sinceOf: (client: HostClient) => string | null,
  command: Command,
  context: CommandContext,
): Promise<never> {
  const { calls } = await requestJson(client, '/calls?limit=1', callList);
  const since = sinceOf(client);
  const newCalls = new NewCalls(client, filters, since ?? calls[0]?.at ?? EPOCH);
  // Skips earlier calls. Comparing times would depend on the clock of the host.
  if (since === null) await newCalls.poll();
  const format = isJsonRequested(command)
    ? (call: object) => `${JSON.stringify(call)}\n`
    : formatCallLine;
  for (;;) {
    for (const call of await newCalls.poll()) await context.print(format(call));
    await pause(FOLLOW_INTERVAL_MS);
  }
}

/** @throws ConfigError for a number out of range. */
function readFilters({ module, status, limit, follow }: CallsOptions): Record<string, string> {
  if (follow && limit !== undefined) throw new ConfigError('--limit cannot be used with --follow');
  return {
    ...(module !== undefined && { module }),
    ...(status !== undefined && { status: requireNumber(status, '--status', STATUS) }),
    ...(limit !== undefined && { limit: requireNumber(limit, '--limit', LIMIT) }),
  };
}

function requireNumber(text: string, source: string, { min, max }: typeof LIMIT): string {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return text;
  throw new ConfigError(`${source} must be a whole number from ${min} to ${max}`);
}

/** @throws ConfigError unless the text is a time or a duration. */
function readSince({ since }: CallsOptions): (client: HostClient) => string | null {
  if (since === undefined) return () => null;
  const sinceOf = parseSince(since);
  return ({ clockSkewMs }) => sinceOf(Date.now() + clockSkewMs).toISOString();
}

const COLUMNS = [
  'AT',
  { right: 'STATUS' },
  'MODULE',
  'METHOD',
  'ROUTE',
  { right: 'MS' },
  { right: 'PROVIDER' },
  { right: 'ATTEMPTS' },
  'ACTOR',
  'FAILURE',
  'REQUEST',
];

function formatCalls({ calls }: { readonly calls: readonly CallEntry[] }): string {
  return `${formatTable(COLUMNS, calls.map(formatRow)).join('\n')}\n`;
}

/** Formats one call. Columns are not aligned, because later calls are unknown. */
function formatCallLine(call: CallEntry): string {
  return `${formatRow(call).join('  ')}\n`;
}

function formatRow(call: CallEntry): string[] {
  return [
    call.at,
    String(call.status),
    call.module ?? '-',
    call.method,
    call.route ?? '-',
    call.duration_ms.toFixed(1),
    call.provider_ms?.toFixed(1) ?? '-',
    String(call.attempts),
    call.actor ?? '-',
    formatFailure(call),
    call.request_id,
  ].map(toPrintable);
}

/** `unavailable: ECONNREFUSED 127.0.0.1:4100` */
function formatFailure({ failure, failure_detail }: CallEntry): string {
  if (failure === null) return '-';
  return failure_detail == null ? failure : `${failure}: ${failure_detail}`;
}

/** Follows calls from `since` on. Each poll returns those since the previous one, oldest first. */
class NewCalls {
  readonly #client: HostClient;
  readonly #filters: Readonly<Record<string, string>>;
  #since: string;
  /** The calls of the last millisecond, which the next poll returns again. */
  #last: readonly string[] = [];

  constructor(client: HostClient, filters: Readonly<Record<string, string>>, since: string) {
    this.#client = client;
    this.#filters = filters;
    this.#since = since;
  }

  /** @throws CommandError when the host is unreachable or rejects the request. */
  async poll(): Promise<CallEntry[]> {
    const calls = await this.#readAll();
    const unseen = omitKnown(calls, this.#last);
    const last = calls.at(-1)?.at;
    if (last !== undefined) {
      this.#since = last;
      this.#last = calls.filter(({ at }) => at === last).map((call) => JSON.stringify(call));
    }
    return unseen;
  }

  async #readAll(): Promise<CallEntry[]> {
    const newestFirst: CallEntry[] = [];
    const query = new URLSearchParams({
      ...this.#filters,
      since: this.#since,
      limit: PAGE_LIMIT,
    });
    for (;;) {
      const { calls, next_cursor } = await requestJson(this.#client, `/calls?${query}`, callList);
      newestFirst.push(...calls);
      if (next_cursor === null) return newestFirst.reverse();
      query.set('cursor', next_cursor);
    }
  }
}

/** Omits each known call once: identical entries are different calls with the same request id. */
function omitKnown(calls: readonly CallEntry[], knownKeys: readonly string[]): CallEntry[] {
  const remaining = [...knownKeys];
  return calls.filter((call) => {
    const index = remaining.indexOf(JSON.stringify(call));
    if (index === -1) return true;
    remaining.splice(index, 1);
    return false;
  });
}
