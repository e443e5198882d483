import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { DIGEST, MODULE_NAME } from '../../descriptor/identifiers.js';
import { ConfigError } from '../../errors.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { requestJson } from '../client/host-response.js';
import { MODULES_PATH, type ModuleEntry, moduleList } from '../client/module-list.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { parseDuration } from '../parse-duration.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';
import { waitForFleet } from '../wait/wait-for-fleet.js';
import { type WaitOutcome, type WaitSubject, WaitTracker } from '../wait/wait-tracker.js';

interface FleetOptions {
  readonly allHosts?: boolean;
  readonly ignoreLost?: boolean;
}

const POLL_MS = 100;
const DEFAULT_TIMEOUT = '10s';

const HELP = `
A name matches any live version, which right after a change may still be the
old one. A digest is exact: of a manifest, of a descriptor with the files that
it refers to (config_digest of 'modgate check --json'), or the SHA-256 of the
descriptor's file. Exits with 1 at the timeout, and immediately when the host
rejects the module or that digest. Retries while the host is unreachable.
With --all-hosts it waits for every host of the fleet, and exits with 1 at
once when one of them is lost, unless --ignore-lost.`;

export function define(command: Command): void {
  command
    .argument('<module|digest>', 'Module name, or sha256: and 64 hex digits')
    .option('--timeout <duration>', `Time limit: 10s, 500ms, 2m (default: ${DEFAULT_TIMEOUT})`)
    .option('--all-hosts', 'Wait for every host of the fleet')
    .option('--ignore-lost', 'Do not wait for hosts that are lost; with --all-hosts')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the result');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const subject = parseSubject(command.args[0] ?? '');
  const { timeout = DEFAULT_TIMEOUT } = command.opts<{ timeout?: string }>();
  const timeoutMs = parseDuration(timeout);
  if (Number.isNaN(timeoutMs)) {
    throw new ConfigError('--timeout must be a duration, such as 10s, 500ms or 2m');
  }
  const client = openHostClient(command, context);
  const { allHosts = false, ignoreLost = false } = command.opts<FleetOptions>();
  if (!allHosts) rejectOptions(command, ['ignoreLost'], 'without --all-hosts');
  else {
    const served = subject.kind === 'digest' ? subject.digest : subject.name;
    const options = { served, timeoutMs, ignoresLost: ignoreLost };
    const { isServed, ...result } = await waitForFleet(client, options);
    return report({ outcome: isServed ? 'live' : 'timeout', ...result }, command, context);
  }
  const end = await waitFor(subject, timeoutMs, client);
  const { outcome, module } = end;
  const result = { outcome, detail: describeOutcome(end, subject, timeoutMs), module };
  return report(result, command, context);
}

/** @throws CommandError with the detail, without --json, unless the outcome is `live`. */
async function report(
  result: { readonly outcome: string; readonly detail: string },
  command: Command,
  context: CommandContext,
): Promise<ExitCode> {
  const isLive = result.outcome === 'live';
  if (isJsonRequested(command)) await context.print(`${JSON.stringify(result)}\n`);
  else if (!isLive) throw new CommandError(result.detail);
  else await context.print(`${toPrintable(result.detail)}\n`);
  return isLive ? EXIT.ok : EXIT.failure;
}

function parseSubject(text: string): WaitSubject {
  if (DIGEST.test(text)) return { kind: 'digest', digest: text };
  if (MODULE_NAME.test(text)) return { kind: 'module', name: text };
  throw new ConfigError(
    'expected a module name, such as crm or acme/crm, or a digest: sha256: and 64 lower-case hex digits',
  );
}

async function waitFor(
  subject: WaitSubject,
  timeoutMs: number,
  client: HostClient,
): Promise<WaitOutcome> {
  const deadline = performance.now() + timeoutMs;
  const tracker = new WaitTracker(subject);
  for (;;) {
    const end = await poll(tracker, client);
    if (end !== null) return end;
    if (performance.now() >= deadline) return tracker.timeOut();
    await pause(Math.min(POLL_MS, Math.max(0, deadline - performance.now())));
  }
}

async function poll(tracker: WaitTracker, client: HostClient): Promise<WaitOutcome | null> {
  try {
    const { modules } = await requestJson(client, MODULES_PATH, moduleList);
    return tracker.observe(modules, client.clockSkewMs);
  } catch (error) {
    // The host may still be starting.
    if (!(error instanceof HostUnreachable)) throw error;
    tracker.recordUnreachable(error);
    return null;
  }
}

function describeOutcome(end: WaitOutcome, subject: WaitSubject, timeoutMs: number): string {
  switch (end.outcome) {
    case 'live':
      return `${describeModule(end.module)} is live, with digest ${end.module.digest}`;
    case 'rejected':
      return `${describeModule(end.module)} is ${end.module.state}${describeReason(end.module)}`;
    case 'timeout':
      return `${describeSubject(subject)} is not live after ${timeoutMs} ms: ${describeTimeout(end, subject)}`;
  }
}

function describeTimeout(end: WaitOutcome & { outcome: 'timeout' }, subject: WaitSubject): string {
  const { module, unreachable } = end;
  if (unreachable !== null) return unreachable.message;
  if (module !== null) return `its state is ${module.state}${describeReason(module)}`;
  return subject.kind === 'module'
    ? 'no descriptor has that name'
    : 'no live module has that digest';
}

function describeSubject(subject: WaitSubject): string {
  return subject.kind === 'module' ? `module '${subject.name}'` : subject.digest;
}

function describeModule({ name, file }: ModuleEntry): string {
  return name === null ? file : `module '${name}'`;
}

function describeReason({ file, reason, hint }: ModuleEntry): string {
  const why = reason === null ? '' : `: ${reason}`;
  return ` (${file})${why}${hint === null ? '' : ` (hint: ${hint})`}`;
}
