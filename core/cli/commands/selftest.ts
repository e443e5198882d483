import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { isLoopbackAddress } from '../../lib/loopback.js';
import { ATTACK_CLASSES, type AttackClass } from '../../selftest/attack-case.js';
import { ATTACK_CORPUS } from '../../selftest/attack-corpus.js';
import { startOwnHost } from '../../selftest/own-host.js';
import { type AttackResult, runAttacks } from '../../selftest/run-attacks.js';
import type { Scene } from '../../selftest/scene.js';
import { addTokenOption, parseHostUrl, readToken } from '../client/host-options.js';
import { reportFailure } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { formatTable } from '../output/table.js';
import { addJsonOption, wantsJson } from '../setting-options.js';

const ROUTE = /^(\/modules\/[^/?#]+\/http)(\/[^?#]+)$/;
const CLASS_NAMES = Object.keys(ATTACK_CLASSES) as AttackClass[];

const EXPLANATION = `
Without a URL it starts a host of its own, in production, with modules, tokens
and providers that exist for the attacks alone, and makes all of them. With the
URL of a running host, on loopback only, it makes those that need no module of
its own: all that need no credential, and with --token and --route (a GET that
the token may make) those that do. They are calls that a host refuses, and some
GETs of that route. Ends with 1 when the host did not hold, and lasts about
15 seconds, for the callers that take their time.`;

export function define(command: Command): void {
  command
    .argument('[url]', 'a running host on loopback')
    .option('--route <path>', 'a GET that the token may make: /modules/{module}/http/{path}')
    .option('--class <names>', `the classes to attack by, with commas: ${CLASS_NAMES.join(', ')}`)
    .option('--verbose', 'list every case, not only those that failed')
    .addHelpText('after', EXPLANATION);
  addTokenOption(command);
  addJsonOption(command, 'the result of every case');
}

/** Attacks a host as `SECURITY.md` lists, and tells what held. */
export function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { class: names } = command.opts<{ class?: string }>();
  const attacks = ATTACK_CORPUS.filter((attack) => parseClasses(names).has(attack.class));
  const given = readScene(command, context);
  return reportFailure(async () => {
    const own = given === null ? await startOwnHost() : null;
    try {
      const scene = given ?? own?.scene;
      if (scene === undefined) throw new Error('no host to attack');
      const results = await runAttacks(attacks, scene);
      const { verbose = false } = command.opts<{ verbose?: boolean }>();
      await context.print(wantsJson(command) ? formatJson(results) : formatText(results, verbose));
      return results.some(({ verdict }) => verdict === 'failed') ? EXIT.failure : EXIT.ok;
    } finally {
      await own?.close();
    }
  });
}

function parseClasses(names: string | undefined): ReadonlySet<string> {
  if (names === undefined) return new Set(CLASS_NAMES);
  const chosen = names.split(',').map((name) => name.trim());
  if (chosen.every((name) => name in ATTACK_CLASSES)) return new Set(chosen);
  throw new ConfigError(`--class must name classes of ${CLASS_NAMES.join(', ')}`);
}

/** `null` asks for a host of its own. @throws ConfigError for a host that is not on loopback. */
function readScene(command: Command, context: CommandContext): Scene | null {
  const [text] = command.args;
  const { route } = command.opts<{ route?: string }>();
  if (text === undefined) {
    if (route === undefined) return null;
    throw new ConfigError('--route needs the URL of a running host');
  }
  const url = new URL(parseHostUrl(text, 'the URL'));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol !== 'http:' || !isLoopbackAddress(host)) {
    throw new ConfigError('only a host on loopback, over http, is attacked: it must be yours');
  }
  const match = route === undefined ? null : ROUTE.exec(route);
  if (route !== undefined && match === null) {
    throw new ConfigError('--route must look like /modules/crm/http/items');
  }
  const token = readToken(command, context.environment);
  return {
    address: { host, port: Number(url.port || 80) },
    authority: url.host,
    base: match?.[1] ?? '/modules/selftest/http',
    route: match?.[2] ?? '/selftest',
    // A credential without a route that it may call proves nothing.
    token: match === null ? null : token,
    own: null,
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
      { title: 'CLASS' },
      { title: 'CASES', align: 'right' },
      { title: 'HELD', align: 'right' },
      { title: 'FAILED', align: 'right' },
      { title: 'SKIPPED', align: 'right' },
      { title: 'WHAT' },
    ],
    CLASS_NAMES.filter((name) => results.some(({ attack }) => attack.class === name)).map(
      (name) => {
        const count = (verdict?: string) =>
          String(
            results.filter(
              (one) => one.attack.class === name && one.verdict === (verdict ?? one.verdict),
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
  const count = (verdict: string) => results.filter((one) => one.verdict === verdict).length;
  const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`;
  return `${results.length} attacks: ${count('held')} held, ${count('failed')} failed${skipped}`;
}
