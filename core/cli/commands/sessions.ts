import type { Command } from 'commander';
import { array, type Infer, string, type } from 'superstruct';
import { ConfigError } from '../../errors.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { removeResource } from '../client/host-response.js';
import { printResource } from '../client/print-resource.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { addJsonOption } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

const PATH = '/console/api/sessions';
const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/;

const HELP = `
Needs the scope modgate.sessions.

modgate sessions end <id...>  ends sessions; their pages have to sign in again.`;

const sessionList = type({
  sessions: array(
    type({
      id: string(),
      actor: type({ kind: string(), id: string() }),
      created_at: string(),
      used_at: string(),
      expires_at: string(),
    }),
  ),
});

type SessionList = Infer<typeof sessionList>;

const COLUMNS = ['ID', 'ACTOR', 'CREATED', 'USED', 'EXPIRES'];

export function define(command: Command): void {
  command
    .argument('[action]', 'end: end sessions')
    .argument('[ids...]', 'With end: the ids of the sessions')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the list');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [action, ...ids] = command.args;
  if (action !== undefined && action !== 'end') {
    throw new ConfigError("the action must be 'end', or absent to list the sessions");
  }
  if (action === 'end') rejectOptions(command, ['json'], 'with end');
  if (action === 'end' && ids.length === 0) throw new ConfigError("'end' requires an id");
  if (!ids.every((id) => SESSION_ID.test(id))) throw new ConfigError('an id is not of a session');
  const client = openHostClient(command, context);
  for (const id of ids) {
    await removeResource(client, `${PATH}/${id}`);
    await context.print(`ended ${id}\n`);
  }
  if (action === 'end') return EXIT.ok;
  return printResource(command, context, PATH, sessionList, formatSessions, client);
}

function formatSessions({ sessions }: SessionList): string {
  return `${formatTable(COLUMNS, sessions.map(formatRow)).join('\n')}\n`;
}

function formatRow({
  id,
  actor,
  created_at,
  used_at,
  expires_at,
}: SessionList['sessions'][number]): string[] {
  return [id, `${actor.kind}:${actor.id}`, created_at, used_at, expires_at].map(toPrintable);
}
