import type { Command } from 'commander';
import { isLoopbackAddress } from '../../contract/loopback.js';
import { ConfigError } from '../../errors.js';
import { ATTACK_CLASSES } from '../../selftest/attack-case.js';
import { ATTACK_CORPUS, RELEASE_ATTACKS } from '../../selftest/attack-corpus.js';
import { type AttackResult, runAttacks } from '../../selftest/run-attacks.js';
import type { Scene } from '../../selftest/scene.js';
import { createHostClient } from '../client/host-client.js';
import { addCredentialOptions, parseHostUrl, readCredentials } from '../client/host-options.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { printResult } from '../output/print-result.js';
import { formatTable } from '../output/table.js';
import { addJsonOption } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

const ROUTE = /^(\/modules\/[^/?#]+\/http)(\/[^?#]+)$/;
const CLASS_NAMES = Object.keys(ATTACK_CLASSES);

const HELP = `
Attacks a running host on loopback: without credentials and, with --token and
--route (a GET that the token may call), with them. The attacks are requests
that a host rejects, and some GETs of that route. Exits with 1 if an attack
succeeded. Takes about 15 seconds, because of the attacks by slow clients.
${RELEASE_ATTACKS} more attacks need modules and providers of their own. They are tests of
modgate, which run with each change of it.`;

export function define(command: Command): void {
  command
    .argument('<url>', 'Running host on loopback')
    .option('--route <path>', 'GET route that the token may call: /modules/{module}/http/{path}')
    .option(
      '--class <names>',
      `Run these classes only, separated by commas: ${CLASS_NAMES.join(', ')}`,
    )
    .option('--verbose', 'List every case, not only the failed ones')
    .addHelpText('after', HELP);
  addCredentialOptions(command);
  addJsonOption(command, 'the result of every case');
  addUselessOptions(command, { 'with --json': ['verbose'], 'without --route': ['token'] });
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { class: names } = command.opts<{ class?: string }>();
  const attacks = ATTACK_CORPUS.filter((attack) => parseClasses(names).has(attack.class));
  const scene = readScene(command, context);
  const { authority, address } = scene;
  const url = `${address.tls === undefined ? 'http' : 'https'}://${authority}`;
  // A host that does not respond would fail every case.
  await createHostClient({ url, token: null, ca: address.tls?.ca ?? null }).send('/livez', {});
  const results = await runAttacks(attacks, scene);
  const { verbose = false } = command.opts<{ verbose?: boolean }>();
  const cases = results.map(
    ({ attack: { id, class: name, title, evidence = null }, ...result }) => {
      return { id, class: name, title, evidence, ...result };
    },
  );
  await printResult(command, context, { cases }, () => formatText(results, verbose));
  return results.some(({ verdict }) => verdict === 'failed') ? EXIT.failure : EXIT.ok;
}

function parseClasses(names: string | undefined): ReadonlySet<string> {
  if (names === undefined) return new Set(CLASS_NAMES);
  const chosen = names.split(',').map((name) => name.trim());
  if (chosen.every((name) => CLASS_NAMES.includes(name))) return new Set(chosen);
  throw new ConfigError(`--class must name classes of ${CLASS_NAMES.join(', ')}`);
}

/** @throws ConfigError for a URL with a path, or of a host that is not on loopback. */
function readScene(command: Command, context: CommandContext): Scene {
  const [text = ''] = command.args;
  const { route } = command.opts<{ route?: string }>();
  const url = new URL(parseHostUrl(text, 'the URL'));
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!isLoopbackAddress(host)) {
    throw new ConfigError('the URL must be on loopback: attack only your own host');
  }
  if (url.pathname !== '/') throw new ConfigError('the URL must be that of a host, without a path');
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
    secrets: match === null || token === null ? [] : [token],
    mark: 'selftest',
  };
}

function formatText(results: readonly AttackResult[], verbose: boolean): string {
  const columns = [
    ...['CLASS', { right: 'CASES' }, { right: 'HELD' }, { right: 'FAILED' }],
    ...[{ right: 'SKIPPED' }, 'ATTACKS'],
  ];
  const rows = Object.entries(ATTACK_CLASSES).flatMap(([name, title]) => {
    const ofClass = results.filter(({ attack }) => attack.class === name);
    const counts = ['held', 'failed', 'skipped'].map((verdict) => count(ofClass, verdict));
    return ofClass.length === 0 ? [] : [[name, ...[ofClass.length, ...counts].map(String), title]];
  });
  const lines = formatTable(columns, rows);
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
  const [held, failed] = [count(results, 'held'), count(results, 'failed')];
  const skipped = count(results, 'skipped');
  const text = `${results.length} attacks: ${held} held, ${failed} failed`;
  const note = `${RELEASE_ATTACKS} more attacks are tests of modgate, against a host of their own`;
  return `${text}${skipped === 0 ? '' : `, ${skipped} skipped`}\n${note}`;
}

function count(results: readonly AttackResult[], verdict: string): number {
  return results.filter((result) => result.verdict === verdict).length;
}
