import type { Command } from 'commander';
import { requireFolder } from '../../config/require-folder.js';
import { SETTINGS, settingFlag } from '../../config/settings.js';
import { ConfigError } from '../../errors.js';
import type { Explanation } from '../../operations/explain/explanation.js';
import { openPlugins, PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { createHostClient } from '../client/host-client.js';
import { addHostOptions, readHostAddress, requireTokenText } from '../client/host-options.js';
import { requestText } from '../client/host-response.js';
import { reportFailure } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { explainFromFiles } from '../explain/explain-from-files.js';
import { formatExplanation } from '../explain/format-explanation.js';
import { parseExplanation } from '../explain/parse-explanation.js';
import { addJsonOption, readSettings, wantsJson } from '../setting-options.js';

interface ExplainOptions {
  readonly as?: string;
  readonly modules?: string;
  readonly plugins?: string;
  readonly url?: string;
}

interface Question {
  readonly method: string;
  readonly target: string;
  /** The token of whom to explain. */
  readonly as: string | null;
}

const EXPLANATION = `
The path is what stands on a request line, as it is:
/modules/acme%2Fcrm/http/contacts/1?full=1. Without --as the holder of --token
is explained (scope modgate.explain). With --modules no host is asked: --as is
then a development token, such as dev-service:me:crm.read. Ends with 0 whatever
the verdict is.`;

/** RFC 9110 9.1: a method is a token. */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function define(command: Command): void {
  command
    .argument('<method>', 'GET, HEAD, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'the raw path and query, from /modules/ on')
    .option('--as <token>', 'explain another caller, by its bearer token')
    .option('--modules <dir>', 'explain from files: this folder of descriptors')
    .option('--plugins <dir>', SETTINGS.plugins.help)
    .addHelpText('after', EXPLANATION);
  addHostOptions(command);
  addJsonOption(command, 'the whole explanation');
}

/** Tells what a host does with a request, and why, without doing it. */
export function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const question = readQuestion(command);
  const { modules, url } = command.opts<ExplainOptions>();
  if (modules !== undefined && url !== undefined) {
    throw new ConfigError('--modules explains from files and --url asks a host: give one of them');
  }
  const asJson = wantsJson(command);
  return reportFailure(async () => {
    const { text, explanation } =
      modules === undefined
        ? await requestExplanation(question, command, context)
        : await readFiles(question, command, context);
    await context.print(asJson ? `${text}\n` : formatExplanation(explanation));
    return EXIT.ok;
  });
}

function readQuestion(command: Command): Question {
  const [method = '', target = ''] = command.args;
  const { as } = command.opts<ExplainOptions>();
  if (!METHOD.test(method)) throw new ConfigError('expected a method first, such as GET');
  if (target === '') throw new ConfigError('expected a path, such as /modules/crm/http/contacts');
  if (as !== undefined) requireTokenText(as, '--as');
  return { method: method.toUpperCase(), target, as: as ?? null };
}

interface Answer {
  readonly text: string;
  readonly explanation: Explanation;
}

async function requestExplanation(
  { method, target, as }: Question,
  command: Command,
  context: CommandContext,
): Promise<Answer> {
  const client = createHostClient(readHostAddress(command, context));
  const query = `method=${encodeURIComponent(method)}&target=${encodeURIComponent(target)}`;
  const headers = as === null ? {} : { 'modgate-explain-as': as };
  const text = await requestText(client, `/explain?${query}`, headers);
  return { text, explanation: parseExplanation(client, text) };
}

async function readFiles(
  question: Question,
  command: Command,
  context: CommandContext,
): Promise<Answer> {
  const { config } = await readSettings(['modules', ...PLUGIN_SETTINGS], command, context);
  await requireFolder(config.modules, settingFlag('modules'));
  const plugins = await openPlugins(config, settingFlag('plugins'));
  const explanation = await explainFromFiles(question, config.modules, {
    plugins,
    environment: context.environment,
  });
  return { text: JSON.stringify(explanation), explanation };
}
