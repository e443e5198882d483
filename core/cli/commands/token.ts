import { hash, randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { TOKEN_ID } from '../../auth/actor-syntax.js';
import { roleName } from '../../auth/role-table.js';
import type { TokenFileEntry } from '../../auth/token-file.js';
import { ACTOR_KINDS, type ActorKind } from '../../contract/index.js';
import { ConfigError } from '../../errors.js';
import { SCOPE } from '../../lib/actor-name.js';
import { parseTime } from '../../lib/parse-time.js';
import { CommandError } from '../command-error.js';
import type { CommandContext, CommandGroup, ExitCode } from '../command-module.js';
import { printResult } from '../output/print-result.js';
import { formatTable } from '../output/table.js';
import { parseDuration } from '../parse-duration.js';
import { addJsonOption, addSettings, choiceOption, readSettings } from '../setting-options.js';
import { editTokenFile, listTokens } from '../token/edit-token-file.js';
import { addUselessOptions } from '../useless-options.js';

interface CreateOptions {
  readonly kind: ActorKind;
  readonly scope: readonly string[];
  readonly role: readonly string[];
  readonly expires: string;
  readonly headerKey?: true;
}

export const help = '\nA running host applies changes within seconds.';

/** The prefix that secret scanners recognize. */
const PREFIX = 'mgt_';
/** 256 bits cannot be guessed. */
const TOKEN_BYTES = 32;
/** The end of the years that RFC 3339 can express. */
const MAX_TIME = Date.UTC(10_000, 0);
/** The precision of the file. */
const SECOND_MS = 1000;
const DEFAULT_EXPIRY = '90d';
const DEFAULT_HEADER = 'x-api-key';

export const actions: CommandGroup['actions'] = {
  create: {
    summary: 'Create a token and print it once; the file stores only its SHA-256',
    define: (command) => {
      command
        .argument('<id>', 'Actor id of the token, such as billing')
        .addOption(choiceOption('--kind <kind>', 'Kind of actor', ACTOR_KINDS).default('service'))
        .option('--scope <scope>', 'Scope of the token; repeatable', collectScope, [])
        .option('--role <name>', 'Role of the roles file; repeatable', collectRole, [])
        .option('--expires <when>', 'Expiry: 90d, 12h, a time, or never', DEFAULT_EXPIRY)
        .option('--header-key', 'Print the header line to send, such as x-api-key: …');
      addJsonOption(command, 'the token');
      addSettings(command, ['tokens', 'tokenHeader']);
      addUselessOptions(command, { 'without --header-key': ['tokenHeader'] });
    },
    run: create,
  },
  list: {
    summary: 'List the tokens of the file',
    define: (command) => {
      addJsonOption(command, 'the list');
      addSettings(command, ['tokens']);
    },
    run: list,
  },
  revoke: {
    summary: 'Remove the tokens of an ID, or the one with a digest',
    define: (command) => {
      command
        .argument('<id|digest>', 'Actor id, or the first 8 or more digits of a digest')
        .option('--all', 'All tokens of the ID');
      addJsonOption(command, 'the removed tokens');
      addSettings(command, ['tokens']);
    },
    run: revoke,
  },
};

async function requireFile(command: Command, context: CommandContext) {
  const { config } = await readSettings(['tokens', 'tokenHeader'], command, context);
  const { tokens: file, tokenHeader } = config;
  if (file !== null) return { file, tokenHeader };
  throw new ConfigError('no tokens file is configured: set --tokens FILE or MODGATE_TOKENS');
}

function collectRole(role: string, before: readonly string[]): string[] {
  if (roleName.is(role)) return [...before, role];
  throw new ConfigError('--role must be a name of 1 to 128 letters, digits or ._-');
}

function collectScope(scope: string, before: readonly string[]): string[] {
  if (SCOPE.test(scope)) return [...before, scope];
  throw new ConfigError('--scope must be one word of visible ASCII without a comma');
}

async function create(command: Command, context: CommandContext): Promise<ExitCode> {
  const { file, tokenHeader } = await requireFile(command, context);
  const options = command.opts<CreateOptions>();
  const [id = ''] = command.args;
  if (!TOKEN_ID.test(id)) {
    throw new ConfigError('the ID of a token must be 1 to 128 letters, digits or ._@-');
  }
  const expiry = parseExpiry(options.expires);
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
  const sha256 = hash('sha256', token);
  const entry: TokenFileEntry = {
    id,
    kind: options.kind,
    scopes: [...new Set(options.scope)],
    ...(options.role.length > 0 && { roles: [...new Set(options.role)] }),
    sha256,
    ...(expiry !== undefined && { expires_at: expiry }),
  };
  await editTokenFile(file, (text) => text.add(entry));
  const validity = expiry === undefined ? 'without expiry' : `until ${expiry}`;
  context.printError(`modgate: valid ${validity}; store it now, it is not shown again\n`);
  if (options.headerKey && tokenHeader === null) {
    context.printError(`modgate: start the host with --token-header ${DEFAULT_HEADER}\n`);
  }
  const header = options.headerKey ? (tokenHeader ?? DEFAULT_HEADER) : undefined;
  const text = header === undefined ? token : `${header}: ${token}`;
  return printResult(command, context, { token, header, ...entry }, () => `${text}\n`);
}

/**
 * Converts `90d`, `12h`, `30m`, a time with a zone or `never` to the value in the file; `undefined` for never.
 * @throws ConfigError for another text or a time in the past.
 */
function parseExpiry(text: string): string | undefined {
  if (text === 'never') return undefined;
  const now = Date.now();
  const ms = parseDuration(text);
  const requested = Number.isNaN(ms) ? parseTime(text) : now + ms;
  // Rounded up: a token must not expire before the time that was asked for.
  const expiresAt = Math.ceil(requested / SECOND_MS) * SECOND_MS;
  if (requested > now && expiresAt < MAX_TIME)
    return `${new Date(expiresAt).toISOString().slice(0, 19)}Z`;
  throw new ConfigError(
    '--expires must be a duration such as 90d, 12h or 30m, a future time such as 2030-06-30T00:00:00Z, or never',
  );
}

async function list(command: Command, context: CommandContext): Promise<ExitCode> {
  const entries = await listTokens((await requireFile(command, context)).file);
  const now = Date.now();
  const tokens = entries.map((entry) => {
    return { ...entry, expired: Date.parse(entry.expires_at ?? '') <= now };
  });
  return printResult(command, context, { tokens }, () => formatTokens(tokens));
}

async function revoke(command: Command, context: CommandContext): Promise<ExitCode> {
  const { file } = await requireFile(command, context);
  const [subject = ''] = command.args;
  const { all = false } = command.opts<{ all?: boolean }>();
  // Without this check, a mistyped path would look like a removed token.
  await listTokens(file);
  let revoked: readonly TokenFileEntry[] = [];
  await editTokenFile(file, (text) => {
    revoked = select(text.entries, subject, all);
    return revoked.length === 0 ? null : text.remove(new Set(revoked.map(({ sha256 }) => sha256)));
  });
  if (revoked.length === 0) throw new CommandError('no token has this ID or digest');
  const format = ({ id, sha256 }: TokenFileEntry) =>
    `revoked ${id} (${sha256.slice(0, SHORT_DIGEST)})\n`;
  return printResult(command, context, { revoked }, () => revoked.map(format).join(''));
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

const COLUMNS = ['ID', 'KIND', 'DIGEST', 'EXPIRES', 'ROLES', 'SCOPES'];
/** Enough digits to identify a token. */
const SHORT_DIGEST = 12;

function formatTokens(entries: readonly (TokenFileEntry & { expired: boolean })[]): string {
  if (entries.length === 0) return 'no tokens\n';
  const rows = entries.map(({ id, kind, sha256, expires_at, expired, roles, scopes }) => [
    ...[id, kind, sha256.slice(0, SHORT_DIGEST)],
    `${expired ? 'expired ' : ''}${expires_at ?? 'never'}`,
    ...[roles?.join(' ') || '-', scopes.join(' ')],
  ]);
  return `${formatTable(COLUMNS, rows).join('\n')}\n`;
}
