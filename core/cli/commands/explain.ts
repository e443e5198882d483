import type { Command } from 'commander';
import { any, array, nullable, string, type } from 'superstruct';
import { SETTINGS } from '../../config/settings.js';
import {
  ALL_CALL_MEMBERS,
  type CallMemberName,
  listCallMembers,
} from '../../contract/call-record.js';
import { ConfigError } from '../../errors.js';
import { normalizeAddress } from '../../lib/address-list.js';
import type { Explanation } from '../../operations/explain/explanation.js';
import { type ExplainedCall, explainedCalls } from '../../operations/status/call-struct.js';
import { adviseOnCall } from '../../steps.js';
import {
  addHostOptions,
  assertOneSource,
  assertTokenText,
  openHostClient,
} from '../client/host-options.js';
import { printResource } from '../client/print-resource.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { type ExplainTarget, explainFromFiles } from '../explain/explain-from-files.js';
import { formatExplanation } from '../explain/format-explanation.js';
import { openDescriptors } from '../open-descriptors.js';
import { formatBlocks } from '../output/escape.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

/** Contains only the fields that are printed, so that other versions of the host are accepted. */
const EXPLANATION = type({
  method: string(),
  target: string(),
  verdict: type({ detail: string() }),
  path: type({ kind: string() }),
  checks: array(type({ check: string(), outcome: string(), detail: string() })),
  also_matches: array(any()),
  headers: array(type({ name: string(), value: nullable(string()), from: string() })),
  endpoints: array(type({ endpoint: string(), state: string() })),
  limits: array(type({ name: string(), source: nullable(string()) })),
});

const IN_SUBJECT: ReadonlySet<CallMemberName> = new Set(['method', 'module', 'route', 'status']);
const MEMBERS = listCallMembers(() => true).filter((name) => !IN_SUBJECT.has(name));
const NAME_WIDTH = Math.max(...MEMBERS.map((name) => ALL_CALL_MEMBERS[name].label.length)) + 2;

interface ExplainOptions {
  readonly as?: string;
  readonly client?: string;
  readonly modules?: string;
  readonly requestId?: string;
  readonly now?: true;
}

const HELP = `
The path is the raw target of a request:
/modules/acme%2Fcrm/http/contacts/1?full=1. Without --as it explains the caller
of --token, who needs the scope modgate.explain. With --modules it reads files
instead of calling a host, and --as is a development token, such as
dev-service:me:crm.read. With --request-id it shows recorded calls and why they
failed, which also needs the scope modgate.calls.read. Exits with 0 for every
verdict.`;

/** A method is a token (RFC 9110, section 9.1). */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function define(command: Command): void {
  command
    .argument('[method]', 'GET, HEAD, POST, PUT, PATCH or DELETE')
    .argument('[path]', 'Raw path and query, starting with /modules/')
    .option('--as <token>', 'Explain another caller, by its bearer token, or anonymous')
    .option('--client <address>', 'Explain a request from this address, for modules with allow')
    .option('--request-id <id>', 'Explain recorded calls, by the x-request-id of their answer')
    .option('--now', 'With --request-id: also what would be decided now, for the actor of then')
    .option('--modules <dir>', 'Explain from the files of this folder of descriptors')
    .option('--plugins <dir>', SETTINGS.plugins.help)
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the whole explanation');
  addUselessOptions(command, {
    'with --request-id': ['as', 'client', 'modules', 'plugins'],
    'without --request-id': ['now'],
    'with a method or a path': ['requestId'],
  });
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { requestId } = command.opts<ExplainOptions>();
  if (requestId !== undefined) return explainCalls(requestId, command, context);
  const target = readTarget(command);
  assertOneSource(command);
  if (command.opts<ExplainOptions>().modules !== undefined) {
    const { path, descriptors } = await openDescriptors([], command, context);
    const explanation = await explainFromFiles(target, path, descriptors);
    return printResult(command, context, explanation, formatExplanation);
  }
  const { method, target: address, as, client } = target;
  const query = new URLSearchParams({ method, target: address, ...(client && { client }) });
  return printResource(
    command,
    context,
    `/explain?${query}`,
    EXPLANATION,
    (value) => formatExplanation(value as unknown as Explanation),
    openHostClient(command, context),
    as === null ? {} : { 'modgate-explain-as': as },
  );
}

async function explainCalls(
  requestId: string,
  command: Command,
  context: CommandContext,
): Promise<ExitCode> {
  const { now } = command.opts<ExplainOptions>();
  const query = new URLSearchParams({ request_id: requestId, ...(now && { now: 'true' }) });
  return printResource(command, context, `/explain?${query}`, explainedCalls, formatCallDetails);
}

function readTarget(command: Command): ExplainTarget {
  const [method, target] = command.args;
  if (method === undefined) throw new ConfigError("missing required argument 'method'");
  const { as, client } = command.opts<ExplainOptions>();
  if (!METHOD.test(method)) throw new ConfigError('expected a method first, such as GET');
  if (target === undefined) throw new ConfigError("missing required argument 'path'");
  if (as !== undefined) assertTokenText(as, '--as');
  const address = client === undefined ? null : normalizeAddress(client);
  if (client !== undefined && address === null)
    throw new ConfigError('--client must be an address');
  return { method: method.toUpperCase(), target, as: as ?? null, client: address };
}

function formatCallDetails({ calls }: { readonly calls: readonly ExplainedCall[] }): string {
  return formatBlocks(...calls.map(formatCall));
}

function formatCall(call: ExplainedCall): string[] {
  const { method, module, route, status, module_named, path_named } = call;
  const where = [module ?? module_named ?? 'no module', route ?? path_named ?? 'no route'];
  const advice = adviseOnCall(call);
  return [
    `${[method, ...where].join(' ')} => ${status}`,
    ...MEMBERS.flatMap(formatMember),
    ...(advice === null ? [] : [formatRow('change', advice)]),
    ...(call.now === undefined ? [] : [formatRow('now', formatVerdict(call.now))]),
  ];

  function formatMember(name: CallMemberName): string[] {
    const { kind, label } = ALL_CALL_MEMBERS[name];
    const value = call[name] ?? null;
    if (value === null) return [];
    if (kind === 'number') return [formatRow(label, `${Number(value).toFixed(1)} ms`)];
    if (typeof value !== 'object') return [formatRow(label, String(value))];
    return value.map(({ field, reason }) => formatRow(label, `${field ?? '-'}: ${reason}`));
  }
}

function formatVerdict(now: ExplainedCall['now']): string {
  if (now == null) return 'unknown: the record has no scopes of an actor, or no path';
  const { status, detail } = now.verdict;
  return status === null ? detail : `${status} ${detail}`;
}

function formatRow(name: string, value: string): string {
  return `${name.padEnd(NAME_WIDTH)}${value}`;
}
