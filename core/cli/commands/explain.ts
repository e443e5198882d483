import type { Command } from 'commander';
import { SETTINGS } from '../../config/settings.js';
import { ConfigError } from '../../errors.js';
import type { Explanation } from '../../operations/explain/explanation.js';
import { formatCallDetails } from '../calls/format-call-details.js';
import { explainedCalls } from '../client/call-list.js';
import { createHostClient } from '../client/host-client.js';
import {
  addHostOptions,
  assertOneSource,
  assertTokenText,
  readHostAddress,
} from '../client/host-options.js';
import { parseHostResponse, requestText } from '../client/host-response.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { explainFromFiles } from '../explain/explain-from-files.js';
import { formatExplanation } from '../explain/format-explanation.js';
import { parseExplanation } from '../explain/parse-explanation.js';
import { openDescriptors } from '../open-descriptors.js';
import { addJsonOption, wantsJson } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

interface ExplainOptions {
  readonly as?: string;
  readonly modules?: string;
  readonly requestId?: string;
}

interface ExplainTarget {
  readonly method: string;
  readonly target: string;
  /** The token of the caller to explain. */
  readonly as: string | null;
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
    .option('--as <token>', 'Explain another caller, by its bearer token')
    .option('--request-id <id>', 'Explain recorded calls, by the x-request-id of their answer')
    .option('--modules <dir>', 'Explain from the files of this folder of descriptors')
    .option('--plugins <dir>', SETTINGS.plugins.help)
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the whole explanation');
}

/** Prints how a host would handle a request, without sending it. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { requestId } = command.opts<ExplainOptions>();
  if (requestId !== undefined) return explainCalls(requestId, command, context);
  const target = readTarget(command);
  assertOneSource(command);
  const { modules } = command.opts<ExplainOptions>();
  const asJson = wantsJson(command);
  const { text, explanation } =
    modules === undefined
      ? await requestExplanation(target, command, context)
      : await readFiles(target, command, context);
  await context.print(asJson ? `${text}\n` : formatExplanation(explanation));
  return EXIT.ok;
}

/** Prints why recorded calls got their answer. */
async function explainCalls(
  requestId: string,
  command: Command,
  context: CommandContext,
): Promise<ExitCode> {
  rejectOptions(command, ['as', 'modules', 'plugins'], 'with --request-id');
  if (command.args.length > 0) {
    throw new ConfigError('--request-id cannot be used with a method or a path');
  }
  const client = createHostClient(readHostAddress(command, context));
  const target = `/explain?request_id=${encodeURIComponent(requestId)}`;
  const text = await requestText(client, target);
  const { calls } = parseHostResponse(client, text, explainedCalls);
  await context.print(wantsJson(command) ? `${text}\n` : formatCallDetails(calls));
  return EXIT.ok;
}

function readTarget(command: Command): ExplainTarget {
  const [method, target] = command.args;
  if (method === undefined) throw new ConfigError("missing required argument 'method'");
  const { as } = command.opts<ExplainOptions>();
  if (!METHOD.test(method)) throw new ConfigError('expected a method first, such as GET');
  if (target === undefined) throw new ConfigError("missing required argument 'path'");
  if (as !== undefined) assertTokenText(as, '--as');
  return { method: method.toUpperCase(), target, as: as ?? null };
}

interface ExplainResult {
  readonly text: string;
  readonly explanation: Explanation;
}

async function requestExplanation(
  { method, target, as }: ExplainTarget,
  command: Command,
  context: CommandContext,
): Promise<ExplainResult> {
  const client = createHostClient(readHostAddress(command, context));
  const query = `method=${encodeURIComponent(method)}&target=${encodeURIComponent(target)}`;
  const headers = as === null ? {} : { 'modgate-explain-as': as };
  const text = await requestText(client, `/explain?${query}`, headers);
  return { text, explanation: parseExplanation(client, text) };
}

async function readFiles(
  target: ExplainTarget,
  command: Command,
  context: CommandContext,
): Promise<ExplainResult> {
  const { path, descriptors } = await openDescriptors([], command, context);
  const explanation = await explainFromFiles(target, path, descriptors);
  return { text: JSON.stringify(explanation), explanation };
}
