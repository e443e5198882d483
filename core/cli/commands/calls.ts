import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Listing } from '../../operations/listing.js';
import { type CallEntry, callList } from '../../operations/status/call-struct.js';
import { CALL_GROUPS } from '../../operations/status/group-calls.js';
import { CALLS } from '../../operations/status/list-calls.js';
import { readCallPages } from '../client/call-pages.js';
import type { HostClient } from '../client/host-client.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { requestJson } from '../client/host-response.js';
import { addFilters, printListing, readFilters } from '../client/listing-command.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { formatItem, listColumns } from '../output/listing.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

const FOLLOW_INTERVAL_MS = 500;
/** How much later a host may list a call of another worker or host than its own. */
const MAX_LATE_MS = 2000;
const EPOCH = new Date(0).toISOString();

export function define(command: Command): void {
  addHostOptions(command);
  addFilters(command, CALLS.query);
  command.option('--follow', 'Print calls as they complete, until interrupted');
  addJsonOption(command, "the host's response to GET /calls, with --follow one call per line,");
  command.option('--all', 'Print all calls that match, page by page, instead of the last ones');
  addUselessOptions(command, {
    'with --follow': ['limit', 'until', 'by', 'all'],
    'with --all': ['limit', 'by'],
  });
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { follow, all, by } = command.opts<{ follow?: true; all?: true; by?: string }>();
  if (follow) return followAll(command, context);
  if (all) return printAll(command, context);
  const listing = by === undefined ? CALLS.listing : CALL_GROUPS;
  return printListing(command, context, 'GET /calls', { ...CALLS, listing });
}

async function printAll(command: Command, context: CommandContext): Promise<ExitCode> {
  const client = openHostClient(command, context);
  const format = isJsonRequested(command) ? JSON.stringify : formatCall;
  const pages = readCallPages(client, readFilters(command, CALLS.query, client), callList);
  for await (const page of pages) {
    for (const call of page) await context.print(`${format(call)}\n`);
  }
  return EXIT.ok;
}

async function followAll(command: Command, context: CommandContext): Promise<ExitCode> {
  const client = openHostClient(command, context);
  // Validates the options first.
  readFilters(command, CALLS.query, client);
  const { calls } = await requestJson(client, '/calls?limit=1', callList);
  const { since, ...filters } = readFilters(command, CALLS.query, client);
  const newCalls = followCalls(client, filters, since ?? calls[0]?.at ?? EPOCH);
  // Skips earlier calls. Comparing times would depend on the clock of the host.
  if (since === undefined) await newCalls.next();
  const format = isJsonRequested(command) ? JSON.stringify : formatCall;
  for await (const polled of newCalls) {
    for (const call of polled) await context.print(`${format(call)}\n`);
    await pause(FOLLOW_INTERVAL_MS);
  }
  return EXIT.ok;
}

/** Formats one call. Columns are not aligned, because later calls are unknown. */
function formatCall(call: CallEntry): string {
  const listing = CALLS.listing as Listing;
  return formatItem(listing, listColumns(listing, [call]), call, null).join('  ');
}

/** Each poll yields the calls since the previous one, oldest first. */
async function* followCalls(
  client: HostClient,
  filters: Readonly<Record<string, string>>,
  from: string,
): AsyncGenerator<readonly CallEntry[]> {
  let since = Date.parse(from);
  /** The calls since then, which the next poll returns again. */
  let known: readonly CallEntry[] = [];
  for (;;) {
    const calls: CallEntry[] = [];
    const query = { ...filters, since: new Date(since).toISOString() };
    const pages = readCallPages(client, query, callList);
    for await (const page of pages) calls.unshift(...page.toReversed());
    yield omitKnown(calls, known);
    const last = calls.at(-1)?.at;
    if (last === undefined) continue;
    since = Math.max(since, Date.parse(last) - MAX_LATE_MS);
    known = calls.filter(({ at }) => Date.parse(at) >= since);
  }
}

/** Omits each known call once: identical entries are different calls with the same request id. */
function omitKnown(calls: readonly CallEntry[], known: readonly CallEntry[]): CallEntry[] {
  const counts = new Map<string, number>();
  for (const key of known.map(keyOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return calls.filter((call) => {
    const key = keyOf(call);
    const count = counts.get(key) ?? 0;
    counts.set(key, count - 1);
    return count <= 0;
  });
}

/** Without bodies, which only the process of the call has, and drops after a while. */
function keyOf(call: CallEntry): string {
  return JSON.stringify({ ...call, request_body: null, response_body: null });
}
