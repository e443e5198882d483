import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { formatCallLine, formatCalls } from '../calls/format-calls.js';
import { NewCalls } from '../calls/new-calls.js';
import { callList } from '../client/call-list.js';
import { createHostClient, type HostClient } from '../client/host-client.js';
import { addHostOptions, readHostAddress } from '../client/host-options.js';
import { parseAnswer, requestJson, requestText } from '../client/host-response.js';
import { reportFailure } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { parseDuration } from '../output/duration.js';
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
const TIME = /^\d{4}-\d{2}-\d{2}T/;

export function define(command: Command): void {
  addHostOptions(command);
  command
    .option('--module <name>', 'only calls of this module')
    .option('--status <status>', 'only calls that were answered with this status')
    .option('--since <time>', 'only calls since 2026-01-31T12:00:00Z, or for the last 10m')
    .option('--limit <number>', `calls at most, ${LIMIT.min} to ${LIMIT.max} (default: 100)`)
    .option('--follow', 'print calls as they end, until interrupted');
  addJsonOption(command, "the host's answer to GET /calls, with --follow one call a line,");
}

/** Shows the last calls of a running host, newest first, or follows them. */
export function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const client = createHostClient(readHostAddress(command, context));
  const options = command.opts<CallsOptions>();
  const filters = readFilters(options);
  const sinceOf = readSince(options);
  return reportFailure(async () => {
    if (options.follow) return follow(client, filters, sinceOf, command, context);
    const query = new URLSearchParams(filters);
    const since = sinceOf(client);
    if (since !== null) query.set('since', since);
    const text = await requestText(client, `/calls?${query}`);
    const { calls } = parseAnswer(client, text, callList);
    await context.print(wantsJson(command) ? `${text}\n` : formatCalls(calls));
    return EXIT.ok;
  });
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
  // From now on, by what the host has and not by a clock.
  if (since === null) await newCalls.poll();
  const format = wantsJson(command)
    ? (call: object) => `${JSON.stringify(call)}\n`
    : formatCallLine;
  for (;;) {
    for (const call of await newCalls.poll()) await context.print(format(call));
    await pause(FOLLOW_INTERVAL_MS);
  }
}

/** @throws ConfigError for a number out of its bounds. */
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

/** @throws ConfigError for what is neither a time nor a duration. */
function readSince({ since }: CallsOptions): (client: HostClient) => string | null {
  if (since === undefined) return () => null;
  if (TIME.test(since)) {
    const time = Date.parse(since);
    if (Number.isNaN(time)) throw new ConfigError('--since must be a time or a duration');
    return () => new Date(time).toISOString();
  }
  const ms = parseDuration(since, '--since');
  return (client) => new Date(Date.now() + client.clockSkewMs - ms).toISOString();
}
