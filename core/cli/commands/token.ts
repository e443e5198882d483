import type { Command } from 'commander';
import { ACTOR_ID, SCOPE } from '../../auth/actor-syntax.js';
import { roleName } from '../../auth/role-table.js';
import { ACTOR_KINDS, type ActorKind } from '../../contract/index.js';
import { ConfigError } from '../../errors.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { formatTable } from '../output/table.js';
import {
  addJsonOption,
  addSettings,
  choiceArgument,
  choiceOption,
  isJsonRequested,
  readSettings,
} from '../setting-options.js';
import { editTokenFile, listTokens } from '../token/edit-token-file.js';
import { generateToken, parseExpiry, type TokenFileEntry } from '../token/token-entry.js';
import { rejectOptions } from '../useless-options.js';

interface TokenOptions {
  readonly kind: ActorKind;
  readonly scope: readonly string[];
  readonly role: readonly string[];
  readonly expires: string;
  readonly all?: true;
  readonly headerKey?: true;
}

interface Action {
  readonly file: string;
  readonly subject: string | undefined;
  readonly options: TokenOptions;
  /** The header of API keys; `null` without one. */
  readonly tokenHeader: string | null;
  readonly isJson: boolean;
}

const HELP = `
create ID creates a token and prints it once; the file stores only its SHA-256.
list prints the tokens of the file. revoke removes the tokens of an ID, or the one
with the digest that starts with the given 8 or more digits. A running host applies
changes within seconds.`;

const DEFAULT_EXPIRY = '90d';
const DEFAULT_HEADER = 'x-api-key';

type Run = (action: Action, context: CommandContext) => Promise<ExitCode>;

const ACTIONS = { create, list, revoke } satisfies Record<string, Run>;

/** The options that each action does not use. */
const USELESS: Readonly<Record<keyof typeof ACTIONS, readonly string[]>> = {
  create: ['all'],
  list: ['kind', 'scope', 'role', 'expires', 'headerKey', 'all', 'tokenHeader'],
  revoke: ['kind', 'scope', 'role', 'expires', 'headerKey', 'tokenHeader'],
};

export function define(command: Command): void {
  command
    .addArgument(choiceArgument('<action>', 'create, list or revoke', Object.keys(ACTIONS)))
    .argument('[id]', 'Actor id of the token, such as billing')
    .addOption(
      choiceOption('--kind <kind>', 'create: kind of actor', ACTOR_KINDS).default('service'),
    )
    .option('--scope <scope>', 'create: scope of the token; repeatable', collectScope, [])
    .option('--role <name>', 'create: role of the roles file; repeatable', collectRole, [])
    .option('--expires <when>', 'create: expiry: 90d, 12h, a time, or never', DEFAULT_EXPIRY)
    .option('--header-key', 'create: print the header line to send, such as x-api-key: …')
    .option('--all', 'revoke: all tokens of the ID')
    .addHelpText('after', HELP);
  addJsonOption(command, 'the result');
  addSettings(command, ['tokens', 'tokenHeader']);
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [text = '', subject] = command.args;
  // Commander has validated the argument against the table.
  const name = text as keyof typeof ACTIONS;
  const options = command.opts<TokenOptions>();
  rejectOptions(command, USELESS[name], `with ${name}`);
  if (!options.headerKey) rejectOptions(command, ['tokenHeader'], 'without --header-key');
  const { config } = await readSettings(['tokens', 'tokenHeader'], command, context);
  if (config.tokens === null) {
    throw new ConfigError('no tokens file is configured: set --tokens FILE or MODGATE_TOKENS');
  }
  const { tokens: file, tokenHeader } = config;
  const action = { file, subject, options, tokenHeader, isJson: isJsonRequested(command) };
  return ACTIONS[name](action, context);
}

function collectRole(role: string, before: readonly string[]): string[] {
  if (roleName.is(role)) return [...before, role];
  throw new ConfigError('--role must be a name of 1 to 128 letters, digits or ._-');
}

function collectScope(scope: string, before: readonly string[]): string[] {
  if (SCOPE.test(scope)) return [...before, scope];
  throw new ConfigError('--scope must be one word of visible ASCII without a comma');
}

async function create(
  { file, subject, options, tokenHeader, isJson }: Action,
  context: CommandContext,
): Promise<ExitCode> {
  if (subject === undefined || !ACTOR_ID.test(subject)) {
    throw new ConfigError('the ID of a token must be 1 to 128 letters, digits or ._@-');
  }
  const expiry = parseExpiry(options.expires, Date.now());
  const { token, sha256 } = generateToken();
  const entry: TokenFileEntry = {
    id: subject,
    kind: options.kind,
    scopes: [...new Set(options.scope)],
    ...(options.role.length > 0 && { roles: [...new Set(options.role)] }),
    sha256,
    ...(expiry !== undefined && { expires_at: expiry }),
  };
  await editTokenFile(file, (text) => text.add(entry));
  const validity = expiry === undefined ? 'without expiry' : `until ${expiry}`;
  context.printError(`modgate: valid ${validity}; store it now, it is not shown again\n`);
  if (options.headerKey === undefined) {
    await context.print(`${isJson ? JSON.stringify({ token, ...entry }) : token}\n`);
    return EXIT.ok;
  }
  const header = tokenHeader ?? DEFAULT_HEADER;
  if (tokenHeader === null) {
    context.printError(`modgate: start the host with --token-header ${header}\n`);
  }
  await context.print(
    `${isJson ? JSON.stringify({ token, header, ...entry }) : `${header}: ${token}`}\n`,
  );
  return EXIT.ok;
}

async function list(action: Action, context: CommandContext): Promise<ExitCode> {
  assertNoSubject(action);
  const entries = await listTokens(action.file);
  const now = Date.now();
  const tokens = entries.map((entry) => ({ ...entry, expired: hasExpired(entry, now) }));
  await context.print(
    action.isJson ? `${JSON.stringify({ tokens })}\n` : formatTokens(entries, now),
  );
  return EXIT.ok;
}

async function revoke(action: Action, context: CommandContext): Promise<ExitCode> {
  const { file, subject, options, isJson } = action;
  if (subject === undefined)
    throw new ConfigError('revoke requires the ID or the digest of a token');
  // Without this check, a mistyped path would look like a removed token.
  await listTokens(file);
  let revoked: readonly TokenFileEntry[] = [];
  await editTokenFile(file, (text) => {
    revoked = select(text.entries, subject, options.all === true);
    return revoked.length === 0 ? null : text.remove(new Set(revoked.map(({ sha256 }) => sha256)));
  });
  if (revoked.length === 0) throw new CommandError('no token has this ID or digest');
  const lines = revoked.map(
    ({ id, sha256 }) => `revoked ${id} (${sha256.slice(0, SHORT_DIGEST)})\n`,
  );
  await context.print(isJson ? `${JSON.stringify({ revoked })}\n` : lines.join(''));
  return EXIT.ok;
}

/** @throws ConfigError for several tokens without `--all`. */
function select(
  entries: readonly TokenFileEntry[],
  subject: string,
  isAll: boolean,
): readonly TokenFileEntry[] {
  const withId = entries.filter(({ id }) => id === subject);
  const isDigest = withId.length === 0 && /^[0-9a-f]{8,64}$/.test(subject);
  const matches = isDigest ? entries.filter(({ sha256 }) => sha256.startsWith(subject)) : withId;
  if (matches.length < 2 || (isAll && !isDigest)) return matches;
  throw new ConfigError(
    `${matches.length} tokens match: select one by its digest, or all of an ID with --all`,
  );
}

function assertNoSubject({ subject }: Action): void {
  if (subject !== undefined) throw new ConfigError('list accepts no ID');
}

const COLUMNS = ['ID', 'KIND', 'DIGEST', 'EXPIRES', 'ROLES', 'SCOPES'];
/** Enough digits to identify a token. */
const SHORT_DIGEST = 12;

function formatTokens(entries: readonly TokenFileEntry[], now: number): string {
  if (entries.length === 0) return 'no tokens\n';
  const rows = entries.map((entry) => [
    entry.id,
    entry.kind,
    entry.sha256.slice(0, SHORT_DIGEST),
    formatExpiry(entry, now),
    entry.roles?.join(' ') || '-',
    entry.scopes.join(' '),
  ]);
  return formatTable(COLUMNS, rows)
    .map((line) => `${line}\n`)
    .join('');
}

function hasExpired({ expires_at: at }: TokenFileEntry, now: number): boolean {
  return at !== undefined && Date.parse(at) <= now;
}

function formatExpiry(entry: TokenFileEntry, now: number): string {
  if (entry.expires_at === undefined) return 'never';
  return hasExpired(entry, now) ? `expired ${entry.expires_at}` : entry.expires_at;
}
