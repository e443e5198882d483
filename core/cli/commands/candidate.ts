import type { Command } from 'commander';
import { array, type Infer, number, string, type } from 'superstruct';
import { createHostClient } from '../client/host-client.js';
import { addHostOptions, readHostAddress } from '../client/host-options.js';
import { parseHostResponse, requestText } from '../client/host-response.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable, type TableColumn } from '../output/table.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';

const report = type({
  module: string(),
  totals: array(
    type({
      route: string(),
      same: number(),
      different: number(),
      failed: number(),
      dropped: number(),
    }),
  ),
  differences: array(
    type({
      at: string(),
      route: string(),
      live: number(),
      candidate: number(),
      request_id: string(),
      pointers: array(type({ pointer: string(), kind: string() })),
    }),
  ),
});

type Report = Infer<typeof report>;

const HELP = `
Compares the responses of the candidate with those of the live provider: the
results of each route since the host started, and the last differences, newest
first. Values of responses are never shown. The token needs the scope
modgate.candidate.read.`;

export function define(command: Command): void {
  command.argument('<module>', 'Name of the module');
  addHostOptions(command);
  addJsonOption(command, "the host's response to GET /candidate");
  command.addHelpText('after', HELP);
}

/** Prints the report of a candidate. Exits with 0 even if responses differ. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [module = ''] = command.args;
  const client = createHostClient(readHostAddress(command, context));
  const text = await requestText(client, `/candidate?${new URLSearchParams({ module })}`);
  const read = parseHostResponse(client, text, report);
  await context.print(isJsonRequested(command) ? `${text}\n` : formatReport(read));
  return EXIT.ok;
}

const COLUMNS: readonly TableColumn[] = [
  { title: 'ROUTE' },
  { title: 'SAME', align: 'right' },
  { title: 'DIFFERENT', align: 'right' },
  { title: 'FAILED', align: 'right' },
  { title: 'DROPPED', align: 'right' },
];

function formatReport({ totals, differences }: Report): string {
  if (totals.length === 0) return 'the module has no candidate\n';
  const rows = totals.map(({ route, same, different, failed, dropped }) => [
    toPrintable(route),
    ...[same, different, failed, dropped].map(String),
  ]);
  const lines = [...formatTable(COLUMNS, rows), ...differences.flatMap(formatDifference)];
  return `${lines.join('\n')}\n`;
}

function formatDifference(difference: Report['differences'][number]): string[] {
  const { at, route, live, candidate, request_id, pointers } = difference;
  const status = live === candidate ? `${live}` : `${live} -> ${candidate}`;
  return [
    '',
    toPrintable(`${at}  ${route}  ${status}  ${request_id}`),
    ...pointers.map(({ pointer, kind }) =>
      toPrintable(`  ${kind.padEnd(7)}  ${pointer || '(whole body)'}`),
    ),
  ];
}
