import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { ReleaseEntry, ReleasesStatus } from '../../contract/release-status.js';
import { ConfigError } from '../../errors.js';
import { isVersion } from '../../lib/compare-versions.js';
import { shortenDigest } from '../../lib/short-digest.js';
import { PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { readVersion } from '../../version.js';
import { checkFiles } from '../check/check-files.js';
import { type CheckReport, summarize } from '../check/check-report.js';
import { formatCheckText } from '../check/format-text.js';
import { type HostClient, HostUnreachable } from '../client/host-client.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { catchUnreachable } from '../client/host-response.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { openDescriptors } from '../open-descriptors.js';
import { toPrintable } from '../output/escape.js';
import { checkPinned } from '../releases/check-pinned.js';
import { collectRelease } from '../releases/collect-release.js';
import {
  findRelease,
  postChange,
  RELEASES_PATH,
  readBase,
  readReleases,
  writeBase,
} from '../releases/release-client.js';
import { readFleet, waitForRelease, warnOfRejection } from '../releases/wait-for-release.js';
import { addJsonOption, addSettings, isJsonRequested } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';
import { readTimeout } from '../wait/poll-host.js';

const POLL_MS = 1000;
/** The time after the end of the probation within which hosts decide. */
const GRACE_MS = 60_000;

interface PublishOptions {
  readonly note?: string;
  readonly base?: string;
  readonly leastVersion?: string;
  readonly canary?: string;
  readonly allowUnproven?: true;
  /** `false` for `--no-wait`. */
  readonly wait?: boolean;
  readonly timeout: string;
  readonly ignoreLost?: true;
}

const HELP = `
Runs 'modgate check' first and prints its warnings. Reads manifests of URLs
and providers now, and stores them with the release. Hosts with --modules
store: serve it within a second. The release is made from the one that
.modgate-release beside the folder names; 'modgate publish' and
'modgate releases pull' write this file.
Warns of a host that rejects the release or a module of it within 5 s.
To see the difference before, run 'modgate check DIR --against URL'.
Exits with 1 when another release is active, and when a canary goes back.
With --wait it also exits with 1 at the time limit, when a host rejects the
release or a module of it, and when a host is lost, unless --ignore-lost; it
names the hosts.
Needs the scope modgate.releases, with --wait also modgate.modules.read; for
code, and to use credentials of the hosts in another way, also
modgate.releases.code.`;

export function define(command: Command): void {
  command
    .argument('<dir>', 'Folder of descriptors')
    .option('--note <text>', 'What changes, for people')
    .option('--base <release>', 'The release that the folder was made from')
    .option(
      '--least-version <version>',
      'Oldest modgate that may serve it (default: the version of this command)',
    )
    .option('--canary <share>', 'Let a share of the hosts try it first, such as 10%')
    .option('--allow-unproven', 'With --canary: release it also after too few calls')
    .option('--wait', 'Wait until every ready host serves it; with --canary after the verdict')
    .option('--no-wait', 'With --canary: do not wait for the verdict')
    .option('--timeout <duration>', 'With --wait: time limit, such as 60s or 2m', '60s')
    .option('--ignore-lost', 'With --wait: do not wait for hosts that are lost')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'what became of the release');
  addSettings(command, ['tokenHeader', ...PLUGIN_SETTINGS]);
  addUselessOptions(command, {
    'without --canary': ['allowUnproven'],
    'without --wait': ['timeout', 'ignoreLost'],
  });
}

/** The result of --json. */
interface PublishResult {
  readonly release: string;
  /** `active`, `unchanged`, `canary`, or the verdict on a canary. */
  readonly outcome: string;
  /** Whether every ready host serves it; `null` without --wait. */
  readonly served: boolean | null;
  readonly detail: string | null;
}

export async function run(command: Command, given: CommandContext): Promise<ExitCode> {
  const isJson = isJsonRequested(command);
  // With --json, stdout has the result alone.
  const print = async (text: string) => given.printError(text);
  const context = isJson ? { ...given, print } : given;
  const options = command.opts<PublishOptions>();
  const share = readShare(options);
  const timeoutMs = readTimeout(options.timeout);
  if (options.wait === false && share === null) {
    throw new ConfigError('--no-wait cannot be used without --canary');
  }
  const { leastVersion = readVersion() } = options;
  if (!isVersion(leastVersion)) throw new ConfigError('--least-version must be such as 0.2.0');
  const client = openHostClient(command, context);
  const [folder = ''] = command.args;
  const { descriptors } = await openDescriptors([], command, context, folder);
  const checking = {
    ...descriptors,
    unopenedAuthenticators: [],
    allowsMissingSecrets: true,
    checksExamples: true,
  };
  const report = await checkFiles(folder, checking);
  if (!report.isFolder) throw new ConfigError(`${folder} must be a folder of descriptors`);
  if (report.files.length === 0) {
    throw new CommandError(
      `${folder} has no descriptors: to serve no module, keep them with enabled: false`,
    );
  }
  if (!(await printProblems(report, context))) return EXIT.failure;
  // Without the right to wait, nothing is published.
  if (options.wait === true) await readFleet(client);
  const files = await collectRelease(folder, descriptors);
  const pinned = await checkPinned(files, folder, report, checking);
  if (!(await printProblems(pinned, context))) return EXIT.failure;
  const base =
    options.base === undefined
      ? await readActiveBase(client, folder)
      : findRelease(await readReleases(client), options.base).release;
  const { release, outcome } = await postChange(client, RELEASES_PATH, {
    files: Object.fromEntries(
      [...files].map(([path, content]) => [path, content.toString('base64')]),
    ),
    base,
    note: options.note ?? '',
    least_version: leastVersion,
    ...(share !== null && {
      canary: { share, allow_unproven: options.allowUnproven ?? false },
    }),
  });
  if (release === null) return EXIT.failure;
  const published = { release, outcome, served: null, detail: null };
  const result = await follow(published, { client, folder, options, timeoutMs, context });
  const isGood = result.served !== false && !WENT_BACK.has(result.outcome);
  if (isJson) await given.print(`${JSON.stringify(result)}\n`);
  else if (result.served === false) throw new CommandError(result.detail ?? '');
  return isGood ? EXIT.ok : EXIT.failure;
}

interface Following {
  readonly client: HostClient;
  readonly folder: string;
  readonly options: PublishOptions;
  readonly timeoutMs: number;
  readonly context: CommandContext;
}

/** Waits for the verdict on a canary, and for the hosts, as the options say. */
async function follow(
  published: PublishResult,
  { client, folder, options, timeoutMs, context }: Following,
): Promise<PublishResult> {
  const { release } = published;
  let { outcome, detail } = published;
  if (outcome === 'canary' && options.wait !== false) {
    const verdict = await reportVerdict(client, release, folder, context);
    [outcome, detail] = [verdict.outcome, verdict.reason];
    if (WENT_BACK.has(outcome)) return { ...published, outcome, detail };
  } else {
    await writeBase(folder, release, context);
    await context.print(`${shortenDigest(release)} ${RESULTS[outcome] ?? 'is active'}\n`);
  }
  if (options.wait !== true) {
    if (outcome === 'active') await warnOfRejection(client, release, context);
    return { ...published, outcome, detail };
  }
  const ignoresLost = options.ignoreLost === true;
  const served = await waitForRelease(client, release, { timeoutMs, ignoresLost });
  if (served.isServed) await context.print(`${toPrintable(served.detail)}\n`);
  return { release, outcome, served: served.isServed, detail: served.detail };
}

/** @returns false for a report with errors */
async function printProblems(report: CheckReport, context: CommandContext): Promise<boolean> {
  const { errors, warnings } = summarize(report);
  if (errors > 0) await context.print(formatCheckText(report));
  else if (warnings > 0) context.printError(formatCheckText({ ...report, notes: [], ignored: [] }));
  return errors === 0;
}

/** A canary that went back leaves the release active that it was made from; a new store has none. */
async function readActiveBase(client: HostClient, folder: string): Promise<string | null> {
  const base = await readBase(folder);
  if (base === null) return null;
  const { active, releases } = await readReleases(client);
  if (active === null) return null;
  const entry = releases.find(({ release }) => release === base);
  const outcome = entry?.verdict?.outcome ?? 'released';
  return entry === undefined || outcome === 'released' ? base : entry.base;
}

/** The verdicts after which a canary is not active. */
const WENT_BACK: ReadonlySet<string> = new Set(['failed', 'unproven', 'aborted']);

const RESULTS: Readonly<Record<string, string>> = {
  canary: 'is a canary',
  unchanged: 'is active already: nothing has changed',
};

/** Parses `10%` or `0.1`. @throws ConfigError */
function readShare({ canary }: PublishOptions): number | null {
  if (canary === undefined) return null;
  const [, number = '', percent] = /^(\d{1,3}(?:\.\d{1,4})?)(%)?$/.exec(canary) ?? [];
  const share = number === '' ? Number.NaN : Number(number) / (percent === undefined ? 1 : 100);
  if (share > 0 && share <= 1) return share;
  throw new ConfigError('--canary must be a share of the hosts, such as 10%');
}

async function reportVerdict(
  client: HostClient,
  release: string,
  folder: string,
  context: CommandContext,
) {
  const name = shortenDigest(release);
  const verdict = await waitForVerdict(client, release, async (canary) => {
    await context.print(`${name} ${toPrintable(formatFigures(canary))}\n`);
  });
  const { outcome, reason } = verdict;
  const isBack = WENT_BACK.has(outcome);
  if (!isBack) await writeBase(folder, release, context);
  const result = isBack ? `went back (${outcome})` : 'is active on all hosts';
  await context.print(`${name} ${result}: ${toPrintable(reason)}\n`);
  return verdict;
}

function formatFigures({ hosts, modules }: NonNullable<ReleasesStatus['canary']>): string {
  const counts = Object.entries(modules).map(
    ([name, { calls, failed }]) => `${name} ${calls} calls, ${failed} failed`,
  );
  const figures = counts.length === 0 ? 'no module has changed' : counts.join('; ');
  return `is a canary on ${hosts.join(', ')}: ${figures}`;
}

/**
 * Waits for the verdict on a canary.
 * @param onFigures called when calls were counted
 * @throws CommandError when no host decides, or none is reachable for a minute.
 */
async function waitForVerdict(
  client: HostClient,
  release: string,
  onFigures: (canary: NonNullable<ReleasesStatus['canary']>) => Promise<void>,
): Promise<NonNullable<ReleaseEntry['verdict']>> {
  let deadline = performance.now() + GRACE_MS;
  let printed = '';
  for (;;) {
    // The host may restart meanwhile.
    const answer = await readReleases(client).catch(catchUnreachable);
    const status = answer instanceof HostUnreachable ? null : answer;
    const verdict = status?.releases.find((entry) => entry.release === release)?.verdict ?? null;
    if (verdict !== null) return verdict;
    if (status?.canary?.release === release) {
      const { until, modules } = status.canary;
      const leftMs = Date.parse(until) - Date.now() - client.clockSkewMs;
      deadline = performance.now() + Math.max(0, leftMs) + GRACE_MS;
      const figures = JSON.stringify(modules);
      if (figures !== printed) await onFigures(status.canary);
      printed = figures;
    }
    if (performance.now() >= deadline) {
      throw new CommandError('the canary was not decided: see modgate releases');
    }
    await pause(POLL_MS);
  }
}
