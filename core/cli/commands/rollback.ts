import type { Command } from 'commander';
import { shortenDigest } from '../../lib/short-digest.js';
import { addHostOptions, openHostClient } from '../client/host-options.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { printResult } from '../output/print-result.js';
import { findRelease, postChange, readReleases } from '../releases/release-client.js';
import { warnOfRejection } from '../releases/wait-for-release.js';
import { addJsonOption } from '../setting-options.js';

const HELP = `
Without a release it goes back to the one that the active release was made
from. While a canary is tried it ends the canary instead. Needs the scope
modgate.releases; for a release with code, or one that uses credentials of the
hosts in another way than the active one, also modgate.releases.code.
Warns of a host that rejects the release or a module of it within 5 s.`;

export function define(command: Command): void {
  command
    .argument('[release]', 'Digest, or its first 8 digits or more. Default: the one before')
    .addHelpText('after', HELP);
  addHostOptions(command);
  addJsonOption(command, 'the active release');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const client = openHostClient(command, context);
  const [text] = command.args;
  const requested =
    text === undefined ? null : findRelease(await readReleases(client), text).release;
  const { release, outcome } = await postChange(client, '/rollback', { release: requested });
  const name = release === null ? 'no release' : shortenDigest(release);
  const result = outcome === 'aborted' ? 'stays active: the canary has ended' : 'is active';
  await printResult(command, context, { release, outcome }, () => `${name} ${result}\n`);
  if (release !== null) await warnOfRejection(client, release, context);
  return EXIT.ok;
}
