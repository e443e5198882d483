import type { Command } from 'commander';
import { array, type Infer, number, string, type } from 'superstruct';
import { addHostOptions } from '../client/host-options.js';
import { printResource } from '../client/print-resource.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { addJsonOption } from '../setting-options.js';

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
export function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [module = ''] = command.args;
  const path = `/candidate?${new URLSearchParams({ module })}`;
  return printResource(command, context, path, report, formatReport);
}

const COLUMNS = [
  'ROUTE',
  { right: 'SAME' },
  { right: 'DIFFERENT' },
  { right: 'FAILED' },
  { right: 'DROPPED' },
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
