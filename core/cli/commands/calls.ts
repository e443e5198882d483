import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { formatCallLine, formatCalls } from '../calls/format-calls.js';
import { NewCalls } from '../calls/new-calls.js';
import { callList } from '../client/call-list.js';
import { createHostClient, type HostClient } from '../client/host-client.js';
import { addHostOptions, readHostAddress } from '../client/host-options.js';
import { parseHostResponse, requestJson, requestText } from '../client/host-response.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { parseSince } from '../parse-duration.js';
import { addJsonOption, wantsJson } from '../setting-options.js';

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

/** Prints the last calls of a running host, newest first, or follows new ones. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const client = createHostClient(readHostAddress(command, context));
  const options = command.opts<CallsOptions>();
  const filters = readFilters(options);
  const sinceOf = readSince(options);
  if (options.follow) return follow(client, filters, sinceOf, command, context);
  const query = new URLSearchParams(filters);
  const since = sinceOf(client);
  if (since !== null) query.set('since', since);
  const text = await requestText(client, `/calls?${query}`);
  const { calls } = parseHostResponse(client, text, callList);
  await context.print(wantsJson(command) ? `${text}\n` : formatCalls(calls));
  return EXIT.ok;
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
  // Skips the calls so far. Comparing with a clock would depend on the clock of the host.
  if (since === null) await newCalls.poll();
  const format = wantsJson(command)
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

/** @throws ConfigError for a text that is neither a time nor a duration. */
function readSince({ since }: CallsOptions): (client: HostClient) => string | null {
  if (since === undefined) return () => null;
  const sinceOf = parseSince(since);
  return ({ clockSkewMs }) => sinceOf(Date.now() + clockSkewMs).toISOString();
}
