import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { nullable, string, type } from 'superstruct';
import {
  type ReleaseEntry,
  type ReleasesStatus,
  releaseContent,
  releasesStatus,
} from '../../contract/release-status.js';
import { DIGEST } from '../../descriptor/identifiers.js';
import { ConfigError } from '../../errors.js';
import { shortenDigest } from '../../lib/short-digest.js';
import {
  findFilesProblem,
  type ReleaseFiles,
  toFiles,
} from '../../modules/releases/release-files.js';
import type { HostClient } from '../client/host-client.js';
import { parseHostResponse, postResource, requestJson } from '../client/host-response.js';
import { CommandError } from '../command-error.js';
import type { CommandContext } from '../command-module.js';
import { toPrintable } from '../output/escape.js';

export const RELEASES_PATH = '/releases';

const releaseChange = type({ release: nullable(string()), outcome: string() });

/** @throws CommandError when the host is unreachable or rejects the request. */
export function readReleases(client: HostClient): Promise<ReleasesStatus> {
  return requestJson(client, RELEASES_PATH, releasesStatus);
}

/** @throws CommandError also for a file whose path leaves the folder. */
export async function readReleaseFiles(client: HostClient, release: string): Promise<ReleaseFiles> {
  const { content } = await requestJson(client, `${RELEASES_PATH}/${release}`, releaseContent);
  const files = toFiles(content);
  const problem = findFilesProblem(files);
  if (problem === null) return files;
  throw new CommandError(
    `the release of ${client.url} is not usable: ${problem.path} ${problem.reason}`,
  );
}

const PREFIX = /^(?:sha256:)?([0-9a-f]{8,64})$/;

/** @param text a digest, or its first 8 digits or more. @throws ConfigError */
export function findRelease({ releases }: ReleasesStatus, text: string): ReleaseEntry {
  const [, prefix] = PREFIX.exec(text) ?? [];
  if (prefix === undefined) {
    throw new ConfigError('a release is named by its digest, or by its first 8 digits or more');
  }
  const matching = releases.filter(({ release }) => release.startsWith(`sha256:${prefix}`));
  const [first] = matching;
  if (first === undefined) throw new CommandError(`no release begins with ${prefix}`);
  if (matching.length > 1)
    throw new CommandError(`${matching.length} releases begin with ${prefix}`);
  return first;
}

/** @throws RejectedRequest for any status except 200. */
export async function postChange(client: HostClient, path: string, value: unknown) {
  return parseHostResponse(client, await postResource(client, path, value), releaseChange);
}

/** The file beside a folder of descriptors that names the release from which it was created. */
function baseFile(folder: string): string {
  return join(dirname(resolve(folder)), '.modgate-release');
}

/** Returns `null` without such a file. */
export async function readBase(folder: string): Promise<string | null> {
  const text = await readFile(baseFile(folder), 'utf8').catch(() => '');
  return DIGEST.test(text.trim()) ? text.trim() : null;
}

/** Warns where the file cannot be written: the release is published or pulled all the same. */
export async function writeBase(
  folder: string,
  release: string,
  { printError }: Pick<CommandContext, 'printError'>,
): Promise<void> {
  const file = baseFile(folder);
  try {
    await writeFile(file, `${release}\n`);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const remedy = `publish the next change with --base ${shortenDigest(release)}`;
    printError(`warning: ${toPrintable(file)} cannot be written (${code}): ${remedy}\n`);
  }
}
