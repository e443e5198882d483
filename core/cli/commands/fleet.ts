import type { Command } from 'commander';
import type { FleetHostStatus, FleetStatus } from '../../contract/fleet-status.js';
import { FLEET_PATH, fleetStatus } from '../client/fleet-status.js';
import { createHostClient } from '../client/host-client.js';
import { addHostOptions, readHostAddress } from '../client/host-options.js';
import { parseHostResponse, requestText } from '../client/host-response.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { shortenDigest } from '../output/short-digest.js';
import { formatTable, type TableColumn } from '../output/table.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';

const HELP = `
Any host of the fleet answers. Hosts agree when all that are ready serve the
same modules and none is lost. A lost host has not reported for 6 seconds; it
may still serve.`;

const COLUMNS: readonly TableColumn[] = [
  { title: 'HOST' },
  { title: 'STATE' },
  { title: 'VERSION' },
  { title: 'WORKERS', align: 'right' },
  { title: 'DIGEST' },
  { title: 'ADDRESS' },
];

export function define(command: Command): void {
  addHostOptions(command);
  addJsonOption(command, "the host's response to GET /fleet");
  command.addHelpText('after', HELP);
}

/** Prints the hosts of the fleet. Exits with 0 even if they differ. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const client = createHostClient(readHostAddress(command, context));
  const text = await requestText(client, FLEET_PATH);
  const status = parseHostResponse(client, text, fleetStatus);
  await context.print(isJsonRequested(command) ? `${text}\n` : formatFleet(status));
  return EXIT.ok;
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
