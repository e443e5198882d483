import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import type { ReleaseEntry, ReleasesStatus } from '../../contract/release-status.js';
import { ConfigError } from '../../errors.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import type { HostClient } from '../client/host-client.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { printResource } from '../client/print-resource.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { toPrintable } from '../output/escape.js';
import { shortenDigest } from '../output/short-digest.js';
import { formatTable } from '../output/table.js';
import { writeBase } from '../releases/base-file.js';
import {
  findRelease,
  RELEASES_PATH,
  readReleaseFiles,
  readReleases,
  releasesStatus,
} from '../releases/release-client.js';
import { addJsonOption } from '../setting-options.js';
import { rejectOptions } from '../useless-options.js';

interface ReleasesOptions {
  readonly release?: string;
  readonly force?: true;
}

const HELP = `
'pull' writes the active release, or the one of --release, into a folder that is
empty or does not exist, and its digest into .modgate-release beside it. Needs
the scope modgate.releases.`;

const COLUMNS = ['RELEASE', 'STATE', 'CREATED', 'AUTHOR', { right: 'FILES' }, 'FROM', 'NOTE'];

export function define(command: Command): void {
  command
    .argument('[action]', 'list or pull. Default: list')
    .argument('[dir]', 'With pull: the folder')
    .option('--release <release>', 'With pull: digest, or its first 8 digits or more')
    .option(
      '--force',
      'With pull: replace the files of the folder, except names that begin with a dot',
    )
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, "the host's response to GET /releases");
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [action = 'list', folder] = command.args;
  if (action !== 'list' && action !== 'pull') {
    throw new ConfigError('the action must be list, pull');
  }
  const client = openHostClient(command, context);
  if (action === 'pull') {
    rejectOptions(command, ['json'], 'with pull');
    if (folder === undefined) throw new ConfigError("'pull' requires a folder");
    await pull(client, folder, command.opts<ReleasesOptions>(), context);
    return EXIT.ok;
  }
  rejectOptions(command, ['release', 'force'], 'without pull');
  if (folder !== undefined) throw new ConfigError("'list' accepts no folder");
  return printResource(command, context, RELEASES_PATH, releasesStatus, formatReleases, client);
}

async function pull(
  client: HostClient,
  folder: string,
  { release: requested, force = false }: { readonly release?: string; readonly force?: boolean },
  context: CommandContext,
): Promise<void> {
  const status = await readReleases(client);
  if (requested === undefined && status.active === null)
    throw new ConfigError('no release is active');
  const { release } = findRelease(status, requested ?? status.active ?? '');
  const files = await readReleaseFiles(client, release);
  await clear(folder, force);
  await writeFiles(folder, files);
  await writeBase(folder, release);
  await context.print(`${folder} is ${shortenDigest(release)}, ${files.size} files\n`);
}

/** @throws ConfigError for a folder with files, unless they may be replaced. */
async function clear(folder: string, force: boolean): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new ConfigError(`${folder} cannot be read as a folder`);
  });
  const replaced = names.filter((name) => !name.startsWith('.'));
  if (replaced.length > 0 && !force) {
    throw new ConfigError(`${folder} is not empty: replace what is in it with --force`);
  }
  for (const name of replaced) await rm(join(folder, name), { recursive: true, force: true });
}

async function writeFiles(folder: string, files: ReleaseFiles): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, content] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

function formatReleases(status: ReleasesStatus): string {
  const { active, canary, releases, hosts } = status;
  const rows = releases.map((release) => formatRow(release, status).map(toPrintable));
  const problems = hosts.flatMap(({ host, problem }) =>
    problem === null ? [] : `${host} does not serve ${toPrintable(problem)}`,
  );
  const trial =
    canary === null
      ? []
      : [
          `canary ${shortenDigest(canary.release)} on ${canary.hosts.join(', ')} until ${canary.until}`,
        ];
  const summary = active === null ? ['no release is active'] : [];
  return `${[...formatTable(COLUMNS, rows), ...summary, ...trial, ...problems].join('\n')}\n`;
}

function formatRow(entry: ReleaseEntry, { active, canary }: ReleasesStatus): string[] {
  const { release, verdict, created_at, author, files, base, note } = entry;
  const state =
    release === active
      ? 'active'
      : release === canary?.release
        ? 'canary'
        : (verdict?.outcome ?? '');
  return [
    shortenDigest(release),
    state,
    created_at,
    `${author.kind}:${author.id}`,
    String(files),
    base === null ? '' : shortenDigest(base),
    note,
  ];
}
