import { readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { createFolder } from '../../lib/create-folder.js';
import { shortenDigest } from '../../lib/short-digest.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import { RELEASES } from '../../operations/releases/read-releases.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { createListingCommand } from '../client/listing-command.js';
import { CommandError } from '../command-error.js';
import type { CommandContext, CommandGroup, ExitCode } from '../command-module.js';
import { printResult } from '../output/print-result.js';
import {
  findRelease,
  readReleaseFiles,
  readReleases,
  writeBase,
} from '../releases/release-client.js';
import { addJsonOption } from '../setting-options.js';

interface PullOptions {
  readonly release?: string;
  readonly force?: true;
}

const HELP = `
Writes the active release, or the one of --release, into a folder that is empty
or does not exist, and its digest into .modgate-release beside it.`;

export const help = '\nNeeds the scope modgate.releases.';

export const actions: CommandGroup['actions'] = {
  list: { summary: 'List the releases', ...createListingCommand('GET /releases', RELEASES) },
  pull: { summary: 'Write a release into a folder', define, run },
};

function define(command: Command): void {
  command
    .argument('<dir>', 'The folder')
    .option('--release <release>', 'Digest, or its first 8 digits or more')
    .option('--force', 'Replace the files of the folder, except names that begin with a dot')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the release');
}

async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [folder = ''] = command.args;
  const { release: requested, force = false } = command.opts<PullOptions>();
  const client = openHostClient(command, context);
  const status = await readReleases(client);
  if (requested === undefined && status.active === null)
    throw new ConfigError('no release is active');
  const { release } = findRelease(status, requested ?? status.active ?? '');
  const files = await readReleaseFiles(client, release);
  const replaced = await listReplaced(folder, force);
  await replaceFiles(folder, replaced, files);
  await writeBase(folder, release, context);
  const format = () => `${folder} is ${shortenDigest(release)}, ${files.size} files\n`;
  return printResult(command, context, { release, files: files.size }, format);
}

/** @throws ConfigError for a folder with files, unless they may be replaced. */
async function listReplaced(folder: string, force: boolean): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new ConfigError(`${folder} cannot be read as a folder`);
  });
  const replaced = names.filter((name) => !name.startsWith('.'));
  if (replaced.length > 0 && !force) {
    throw new ConfigError(`${folder} is not empty: replace what is in it with --force`);
  }
  return replaced;
}

/** @throws CommandError for a folder that cannot be written. */
async function replaceFiles(
  folder: string,
  replaced: readonly string[],
  files: ReleaseFiles,
): Promise<void> {
  try {
    for (const name of replaced) await rm(join(folder, name), { recursive: true, force: true });
    await createFolder(folder);
    for (const [path, content] of files) {
      const file = join(folder, path);
      await createFolder(dirname(file));
      await writeFile(file, content);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const detail = `${folder} cannot be written (${code}): it may lack files`;
    throw new CommandError(detail, { cause: error });
  }
}
