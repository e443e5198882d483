import type { Command } from 'commander';
import { array, boolean, type Infer, nullable, string, type } from 'superstruct';
import { ConfigError } from '../../errors.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { postResource } from '../client/host-response.js';
import { printResource } from '../client/print-resource.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { addJsonOption } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

const PATH = '/approvals';
const MAX_LISTED = 1000;
const APPROVAL_ID = /^[A-Za-z0-9_-]{1,64}$/;
const DECISIONS = { approve: 'approved', reject: 'rejected' } as const;
const ACTIONS = ['list', 'show', 'approve', 'reject'] as const;

const HELP = `
Requires the scope modgate.approvals. Only users can approve or reject, and not
their own requests. Invisible characters are printed as escapes.`;

const actor = type({ kind: string(), id: string() });

const approval = type({
  id: string(),
  status: string(),
  module: string(),
  name: string(),
  danger_level: string(),
  actor,
  requested_at: string(),
  expires_at: string(),
});

const approvalList = type({ approvals: array(approval) });

const shownArguments = { arguments: string(), has_invisible: boolean() };

const wholeApproval = type({
  ...approval.schema,
  ...shownArguments,
  headers: array(string()),
  previous: nullable(type({ ...shownArguments, actor })),
});

type Approval = Infer<typeof approval>;
type WholeApproval = Infer<typeof wholeApproval>;

const COLUMNS = ['ID', 'STATUS', 'ACTOR', 'MODULE', 'OPERATION', 'DANGER', 'EXPIRES'];

export function define(command: Command): void {
  command
    .argument('[action]', 'list, show, approve or reject. Default: list')
    .argument('[ids...]', 'IDs of the requests to show, approve or reject')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the response of the host');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [name = 'list', ...ids] = command.args;
  const action = ACTIONS.find((candidate) => candidate === name);
  if (action === undefined) throw new ConfigError(`the action must be ${ACTIONS.join(', ')}`);
  const isDecision = action === 'approve' || action === 'reject';
  if (isDecision) rejectOptions(command, ['json'], `with ${action}`);
  if (action === 'list' && ids.length > 0) throw new ConfigError("'list' accepts no id");
  if (action !== 'list' && ids.length === 0) throw new ConfigError(`'${action}' requires an id`);
  if (!ids.every((id) => APPROVAL_ID.test(id))) {
    throw new ConfigError('an id must have 1 to 64 of A-Z, a-z, 0-9, _ and -');
  }
  const client = openHostClient(command, context);
  for (const id of ids) {
    if (isDecision) {
      await postResource(client, `${PATH}/${id}`, { decision: action });
      await context.print(`${DECISIONS[action]} ${id}\n`);
    } else {
      const path = `${PATH}/${id}`;
      await printResource(command, context, path, wholeApproval, formatWhole, client);
    }
  }
  if (action !== 'list') return EXIT.ok;
  const path = `${PATH}?limit=${MAX_LISTED}`;
  return printResource(command, context, path, approvalList, formatApprovals, client);
}

function formatApprovals({ approvals }: Infer<typeof approvalList>): string {
  return `${formatTable(COLUMNS, approvals.map(formatRow)).join('\n')}\n`;
}

function formatRow({ id, status, module, name, danger_level, ...more }: Approval): string[] {
  const requester = `${more.actor.kind}:${more.actor.id}`;
  return [id, status, requester, module, name, danger_level, more.expires_at].map(toPrintable);
}

function formatWhole(approval: WholeApproval): string {
  const { id, status, module, name, headers, previous } = approval;
  const warning = '  warning: the arguments contain invisible characters';
  const lines = [
    `${id}  ${status}`,
    `  ${approval.actor.kind}:${approval.actor.id} requests ${name} of ${module} (${approval.danger_level})`,
    `  requested ${approval.requested_at}, expires ${approval.expires_at}`,
    ...(headers.length === 0 ? [] : [`  headers  ${headers.join(', ')}`]),
    ...(approval.has_invisible ? [warning] : []),
    `  arguments  ${approval.arguments}`,
    previous === null
      ? '  no call of this operation was approved before'
      : `  approved before  ${previous.arguments}`,
  ];
  return `${lines.map(toPrintable).join('\n')}\n`;
}
