import type { Command } from 'commander';
import type { FleetHostStatus, FleetStatus } from '../../contract/fleet-status.js';
import { FLEET_PATH, fleetStatus } from '../client/fleet-status.js';
import { addHostOptions } from '../client/host-options.js';
import { printResource } from '../client/print-resource.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { shortenDigest } from '../output/short-digest.js';
import { formatTable } from '../output/table.js';
import { addJsonOption } from '../setting-options.js';

const HELP = `
Any host of the fleet answers. Hosts agree when all that are ready serve the
same modules and none is lost. A lost host has not reported for 6 seconds; it
may still serve.`;

const COLUMNS = ['HOST', 'STATE', 'VERSION', { right: 'WORKERS' }, 'DIGEST', 'ADDRESS'];

export function define(command: Command): void {
  addHostOptions(command);
  addJsonOption(command, "the host's response to GET /fleet");
  command.addHelpText('after', HELP);
}

/** Prints the hosts of the fleet. Exits with 0 even if they differ. */
export function run(command: Command, context: CommandContext): Promise<ExitCode> {
  return printResource(command, context, FLEET_PATH, fleetStatus, formatFleet);
}

function formatFleet({ fleet, agreed, digest, hosts }: FleetStatus): string {
  const [titles = '', ...rows] = formatTable(COLUMNS, hosts.map(formatHost));
  const lines = hosts.flatMap(({ rejected }, index) => [
    rows[index] ?? '',
    ...rejected.map((module) => `  does not serve its file of ${toPrintable(module)}`),
  ]);
  const agreement = agreed ? `all serve ${shortenDigest(digest ?? '')}` : 'the hosts do not agree';
  return `${[titles, ...lines, '', `fleet ${fleet}: ${agreement}`].join('\n')}\n`;
}

function formatHost({ id, state, version, workers, digest, address }: FleetHostStatus): string[] {
  return [id, state, version, String(workers), shortenDigest(digest), address].map(toPrintable);
}
