import type { Command } from 'commander';
import { type FleetStatus, fleetStatus } from '../../contract/fleet-status.js';
import { DIGEST, MODULE_NAME } from '../../descriptor/identifiers.js';
import { ConfigError } from '../../errors.js';
import { type ListedModule, moduleList } from '../../operations/status/module-struct.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { requestJson } from '../client/host-response.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';
import { listHosts, nameHosts, pollHost, readTimeout } from '../wait/poll-host.js';
import { WaitTracker } from '../wait/wait-tracker.js';

interface WaitOptions {
  readonly timeout: string;
  readonly allHosts?: boolean;
  readonly ignoreLost?: boolean;
}

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
    .option('--timeout <duration>', 'Time limit: 10s, 500ms, 2m', '10s')
    .option('--all-hosts', 'Wait for every host of the fleet')
    .option('--ignore-lost', 'Do not wait for hosts that are lost; with --all-hosts')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the result');
  addUselessOptions(command, { 'without --all-hosts': ['ignoreLost'] });
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [subject = ''] = command.args;
  if (!DIGEST.test(subject) && !MODULE_NAME.test(subject)) {
    throw new ConfigError(
      'expected a module name, such as crm or acme/crm, or a digest: sha256: and 64 lower-case hex digits',
    );
  }
  const options = command.opts<WaitOptions>();
  const timeoutMs = readTimeout(options.timeout);
  const client = openHostClient(command, context);
  const result = options.allHosts
    ? await waitForFleet(client, subject, timeoutMs, options)
    : await waitForModule(client, subject, timeoutMs);
  const isLive = result.outcome === 'live';
  if (!isLive && !isJsonRequested(command)) throw new CommandError(result.detail);
  await printResult(command, context, result, ({ detail }) => `${toPrintable(detail)}\n`);
  return isLive ? EXIT.ok : EXIT.failure;
}

function waitForModule(client: HostClient, subject: string, timeoutMs: number) {
  const tracker = new WaitTracker(subject);
  return pollHost(
    client,
    timeoutMs,
    readModules,
    ({ modules }) => {
      const end = tracker.observe(modules, client.clockSkewMs);
      if (end === null) return null;
      const { outcome, module } = end;
      const name = module.name === null ? module.file : `module '${module.name}'`;
      const state = outcome === 'live' ? `live, with digest ${module.digest}` : formatState(module);
      return { outcome, detail: `${name} is ${state}`, module };
    },
    (last) => {
      const module = tracker.latest;
      const isDigest = DIGEST.test(subject);
      const missing = isDigest ? 'no live module has that digest' : 'no descriptor has that name';
      const known = module === null ? missing : `its state is ${formatState(module)}`;
      const reason = last instanceof HostUnreachable ? last.message : known;
      const name = isDigest ? subject : `module '${subject}'`;
      const detail = `${name} is not live after ${timeoutMs} ms: ${reason}`;
      return { outcome: 'timeout', detail, module };
    },
  );
}

function readModules(client: HostClient) {
  return requestJson(client, '/modules', moduleList);
}

function formatState({ state, file, reason, hint }: ListedModule): string {
  const why = reason === null ? '' : `: ${reason}`;
  return `${state} (${file})${why}${hint === null ? '' : ` (hint: ${hint})`}`;
}

/**
 * Polls until all hosts of the fleet serve the module or digest, one is lost, or the host that answers
 * has rejected it.
 */
function waitForFleet(
  client: HostClient,
  served: string,
  timeoutMs: number,
  { ignoreLost = false }: WaitOptions,
) {
  const path = `/fleet?serves=${encodeURIComponent(served)}`;
  const tracker = new WaitTracker(served);
  return pollHost(
    client,
    timeoutMs,
    async (bounded) => {
      const fleet = requestJson(bounded, path, fleetStatus);
      const [status, { modules }] = await Promise.all([fleet, readModules(bounded)]);
      return { ...status, modules };
    },
    decide,
    giveUp,
  );

  /** Returns `null` while hosts may still follow. */
  function decide({ hosts, modules }: FleetStatus & { readonly modules: readonly ListedModule[] }) {
    const end = tracker.observe(modules, client.clockSkewMs);
    if (end?.outcome === 'rejected') {
      const detail = `${served} is ${formatState(end.module)}`;
      return { outcome: end.outcome, detail, hosts };
    }
    const lost = hosts.filter(({ state }) => state === 'lost');
    if (lost.length > 0 && !ignoreLost) {
      const detail = `${nameHosts(lost)} lost; with --ignore-lost the others alone count`;
      return { outcome: 'timeout', detail, hosts };
    }
    const counted = hosts.filter(({ state }) => state !== 'lost' && state !== 'draining');
    if (counted.length === 0 || !counted.every(({ serves }) => serves === true)) return null;
    return { outcome: 'live', detail: `${served} is served by ${counted.length} hosts`, hosts };
  }

  function giveUp(last: FleetStatus | HostUnreachable) {
    const isUnreachable = last instanceof HostUnreachable;
    const hosts = isUnreachable ? [] : last.hosts;
    const missing = hosts.filter(({ state, serves }) => serves !== true && state !== 'draining');
    const reason = isUnreachable ? last.message : `not by ${listHosts(missing)}`;
    const detail = `${served} is not served by all hosts after ${timeoutMs} ms: ${reason}`;
    return { outcome: 'timeout', detail, hosts };
  }
}
