import type { Command } from 'commander';
import { type ApprovalDetails, approvalDetails } from '../../contract/approval-status.js';
import { APPROVALS } from '../../operations/approvals/read-approvals.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { postResource } from '../client/host-response.js';
import { createListingCommand } from '../client/listing-command.js';
import { printResource } from '../client/print-resource.js';
import { type CommandGroup, EXIT } from '../command-module.js';
import { formatBlocks } from '../output/escape.js';
import { addIds, addJsonOption, isJsonRequested } from '../setting-options.js';

const PATH = '/approvals';
const MAX_LISTED = '1000';

type ShownArguments = Pick<ApprovalDetails, 'arguments' | 'has_invisible' | 'members' | 'bytes'>;

export const help = `
Requires the scope modgate.approvals. Only users can approve or reject, and not
their own requests. Invisible characters are printed as escapes.`;

export const actions: CommandGroup['actions'] = {
  list: {
    summary: 'List what waits, and what was decided',
    ...createListingCommand('GET /approvals', APPROVALS, { limit: MAX_LISTED }),
  },
  show: {
    summary: 'Show everything that will be sent',
    define: (command) => {
      addIds(command, 'IDs of the requests');
      addHostOptions(command);
      addJsonOption(command, 'the responses of the host');
    },
    run: async (command, context) => {
      const client = openHostClient(command, context);
      for (const id of command.args) {
        await printResource(
          command,
          context,
          `${PATH}/${id}`,
          approvalDetails,
          formatWhole,
          client,
        );
      }
      return EXIT.ok;
    },
  },
  approve: createDecision({ decision: 'approve', summary: 'Approve requests', done: 'approved' }),
  reject: createDecision({
    decision: 'reject',
    summary: 'Reject requests',
    done: 'rejected',
    define: (command) => command.option('--reason <text>', 'Tell the agent why, in 500 characters'),
  }),
};

interface DecisionCommand {
  readonly decision: string;
  readonly summary: string;
  readonly done: string;
  readonly define?: (command: Command) => void;
}

function createDecision({
  decision,
  summary,
  done,
  define,
}: DecisionCommand): CommandGroup['actions'][string] {
  return {
    summary,
    define: (command) => {
      addIds(command, 'IDs of the requests');
      define?.(command);
      addHostOptions(command);
      addJsonOption(command, 'the responses of the host');
    },
    run: async (command, context) => {
      const client = openHostClient(command, context);
      const { reason } = command.opts<{ reason?: string }>();
      for (const id of command.args) {
        const decided = await postResource(client, `${PATH}/${id}`, { decision, reason });
        await context.print(isJsonRequested(command) ? `${decided}\n` : `${done} ${id}\n`);
      }
      return EXIT.ok;
    },
  };
}

function formatWhole(approval: ApprovalDetails): string {
  const { id, status, module, name, headers, previous } = approval;
  return formatBlocks([
    `${id}  ${status}`,
    `  ${approval.actor.kind}:${approval.actor.id} requests ${name} of ${module} (${approval.danger_level})`,
    `  requested ${approval.requested_at}, expires ${approval.expires_at}`,
    ...formatDecision(approval),
    ...formatWords(approval),
    ...headers.map((header) => `  header  ${header.name}: ${header.value}`),
    ...formatArguments('arguments', approval),
    ...(previous === null
      ? ['  no call of this operation was approved before']
      : formatArguments('approved before', previous)),
  ]);
}

function formatDecision({ decided_by, decided_at, reason }: ApprovalDetails): string[] {
  if (decided_by === null) return [];
  const decision = `  decided by ${decided_by.kind}:${decided_by.id}, ${decided_at}`;
  return [reason === null ? decision : `${decision}: ${reason}`];
}

function formatWords({ summary, description, confirmation }: ApprovalDetails): string[] {
  const texts = [
    ['summary', summary],
    ['description', description],
    ['confirmation', confirmation?.message],
    ['phrase', confirmation?.required_phrase],
  ] as const;
  return texts.flatMap(([title, text]) =>
    text ? text.split('\n').map((line) => `  ${title}  ${line}`) : [],
  );
}

/** The host writes one member a line. */
function formatArguments(
  title: string,
  { arguments: text, members, bytes, has_invisible }: ShownArguments,
): string[] {
  const warning = '  warning: blanks and invisible characters are printed as escapes';
  const lines = text.split('\n').map((line) => `    ${line}`);
  return [
    ...(has_invisible ? [warning] : []),
    `  ${title}, ${members} members, ${bytes} bytes:`,
    ...lines,
  ];
}
