import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { isLoopbackAddress } from '../../lib/loopback.js';
import { toError } from '../../lib/to-error.js';
import { ATTACK_CLASSES, type AttackClass } from '../../selftest/attack-case.js';
import { ATTACK_CORPUS } from '../../selftest/attack-corpus.js';
import { startOwnHost } from '../../selftest/own-host.js';
import { RawConnection } from '../../selftest/raw-http.js';
import { type AttackResult, runAttacks } from '../../selftest/run-attacks.js';
import type { Scene } from '../../selftest/scene.js';
import { addCredentialOptions, parseHostUrl, readCredentials } from '../client/host-options.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

const ROUTE = /^(\/modules\/[^/?#]+\/http)(\/[^?#]+)$/;
const CLASS_NAMES = Object.keys(ATTACK_CLASSES) as AttackClass[];

const HELP = `
Without a URL it starts its own host in production, with modules, tokens and
providers for the attacks, and runs all cases. With the URL of a running host,
on loopback only, it runs the cases that need no module of their own: those
without credentials and, with --token and --route (a GET that the token may
call), those with credentials. They send requests that a host rejects, and some
GETs of that route. Exits with 1 if an attack succeeded. Takes about 15 seconds,
because of the cases with slow clients.`;

export function define(command: Command): void {
  command
    .argument('[url]', 'Running host on loopback')
    .option('--route <path>', 'GET route that the token may call: /modules/{module}/http/{path}')
    .option(
      '--class <names>',
      `Run these classes only, separated by commas: ${CLASS_NAMES.join(', ')}`,
    )
    .option('--verbose', 'List every case, not only the failed ones')
    .addHelpText('after', HELP);
  addCredentialOptions(command);
  addJsonOption(command, 'the result of every case');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  if (isJsonRequested(command)) rejectOptions(command, ['verbose'], 'with --json');
  const { class: names } = command.opts<{ class?: string }>();
  const attacks = ATTACK_CORPUS.filter((attack) => parseClasses(names).has(attack.class));
  const remoteScene = readScene(command, context);
  const ownHost = remoteScene === null ? await startOwnHost() : null;
  try {
    const scene = remoteScene ?? ownHost?.scene;
    if (scene === undefined) throw new Error('no host to attack');
    await assertReachable(scene);
    const results = await runAttacks(attacks, scene);
    const { verbose = false } = command.opts<{ verbose?: boolean }>();
    await context.print(
      isJsonRequested(command) ? formatJson(results) : formatText(results, verbose),
    );
    return results.some(({ verdict }) => verdict === 'failed') ? EXIT.failure : EXIT.ok;
  } finally {
    await ownHost?.close();
  }
}

/** @throws CommandError for an untrusted certificate, which would fail every case. */
async function assertReachable({ address }: Scene): Promise<void> {
  if (address.tls === undefined) return;
  try {
    (await RawConnection.to(address)).destroy();
  } catch (error) {
    throw new CommandError(`the host cannot be reached: ${toError(error).message}; see --ca`);
  }
}

function parseClasses(names: string | undefined): ReadonlySet<string> {
  if (names === undefined) return new Set(CLASS_NAMES);
  const chosen = names.split(',').map((name) => name.trim());
  if (chosen.every((name) => name in ATTACK_CLASSES)) return new Set(chosen);
  throw new ConfigError(`--class must name classes of ${CLASS_NAMES.join(', ')}`);
}

/** Returns `null` without a URL. @throws ConfigError for a host that is not on loopback. */
function readScene(command: Command, context: CommandContext): Scene | null {
  const [text] = command.args;
  const { route } = command.opts<{ route?: string }>();
  if (text === undefined) {
    rejectOptions(command, ['route', 'token', 'ca'], 'without the URL of a running host');
    return null;
  }
  if (route === undefined) rejectOptions(command, ['token'], 'without --route');
  const url = new URL(parseHostUrl(text, 'the URL'));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!isLoopbackAddress(host)) {
    throw new ConfigError('the URL must be on loopback: attack only your own host');
  }
  const match = route === undefined ? null : ROUTE.exec(route);
  if (route !== undefined && match === null) {
    throw new ConfigError('--route must look like /modules/crm/http/items');
  }
  const { token, ca = null } = readCredentials(command, context.environment);
  const isSecure = url.protocol === 'https:';
  return {
    address: {
      host,
      port: Number(url.port || (isSecure ? 443 : 80)),
      ...(isSecure && { tls: { ca } }),
    },
    authority: url.host,
    base: match?.[1] ?? '/modules/selftest/http',
    route: match?.[2] ?? '/selftest',
    // Without a route there is no request for the token.
    token: match === null ? null : token,
    own: null,
    mark: 'selftest',
    lateChecks: [],
  };
}

function formatJson(results: readonly AttackResult[]): string {
  const cases = results.map(({ attack, verdict, reason }) => ({
    id: attack.id,
    class: attack.class,
    title: attack.title,
    evidence: attack.evidence ?? null,
    verdict,
    reason,
  }));
  return `${JSON.stringify({ cases })}\n`;
}

function formatText(results: readonly AttackResult[], verbose: boolean): string {
  const lines = formatTable(
    [
      'CLASS',
      { right: 'CASES' },
      { right: 'HELD' },
      { right: 'FAILED' },
      { right: 'SKIPPED' },
      'ATTACKS',
    ],
    CLASS_NAMES.filter((name) => results.some(({ attack }) => attack.class === name)).map(
      (name) => {
        const count = (verdict?: string) =>
          String(
            results.filter(
              (result) =>
                result.attack.class === name && result.verdict === (verdict ?? result.verdict),
            ).length,
          );
        return [
          name,
          count(),
          count('held'),
          count('failed'),
          count('skipped'),
          ATTACK_CLASSES[name],
        ];
      },
    ),
  );
  const listed = results.filter(({ verdict }) => verbose || verdict === 'failed');
  if (listed.length > 0) lines.push('', ...listed.map(formatCase));
  return `${lines.join('\n')}\n\n${summarize(results)}\n`;
}

function formatCase({ attack, verdict, reason }: AttackResult): string {
  const evidence = attack.evidence === undefined ? '' : ` (${attack.evidence})`;
  const why = reason === null ? '' : `: ${toPrintable(reason)}`;
  return `${verdict.padEnd(7)} ${attack.id}: ${attack.title}${evidence}${why}`;
}

function summarize(results: readonly AttackResult[]): string {
  const count = (verdict: string) => results.filter((result) => result.verdict === verdict).length;
  const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`;
  return `${results.length} attacks: ${count('held')} held, ${count('failed')} failed${skipped}`;
}
