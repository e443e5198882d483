import type { Command } from 'commander';
import { array, type Infer, string, type } from 'superstruct';
import { ConfigError } from '../../errors.js';
import { createHostClient } from '../client/host-client.js';
import { addHostOptions, readHostAddress } from '../client/host-options.js';
import { parseHostResponse, removeResource, requestText } from '../client/host-response.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable, type TableColumn } from '../output/table.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
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

type ListedSession = Infer<typeof sessionList>['sessions'][number];

const COLUMNS: readonly TableColumn[] = [
  { title: 'ID' },
  { title: 'ACTOR' },
  { title: 'CREATED' },
  { title: 'USED' },
  { title: 'EXPIRES' },
];

export function define(command: Command): void {
  command
    .argument('[action]', 'end: end sessions')
    .argument('[ids...]', 'With end: the ids of the sessions')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the list');
}

/** Lists the sessions of the console of a running host, or ends some of them. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [action, ...ids] = command.args;
  if (action !== undefined && action !== 'end') {
    throw new ConfigError("the action must be 'end', or absent to list the sessions");
  }
  if (action === 'end') rejectOptions(command, ['json'], 'with end');
  if (action === 'end' && ids.length === 0) throw new ConfigError("'end' requires an id");
  if (!ids.every((id) => SESSION_ID.test(id))) throw new ConfigError('an id is not of a session');
  const client = createHostClient(readHostAddress(command, context));
  for (const id of ids) {
    await removeResource(client, `${PATH}/${id}`);
    await context.print(`ended ${id}\n`);
  }
  if (action === 'end') return EXIT.ok;
  const text = await requestText(client, PATH);
  const { sessions } = parseHostResponse(client, text, sessionList);
  const rows = formatTable(COLUMNS, sessions.map(formatRow));
  await context.print(isJsonRequested(command) ? `${text}\n` : `${rows.join('\n')}\n`);
  return EXIT.ok;
}

function formatRow({ id, actor, created_at, used_at, expires_at }: ListedSession): string[] {
  return [id, `${actor.kind}:${actor.id}`, created_at, used_at, expires_at].map(toPrintable);
}
