import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { MAX_TEXT_LENGTH } from '../../document/parse-document.js';
import { ConfigError } from '../../errors.js';
import type { CommandContext } from '../command-module.js';
import { rejectUselessOptions } from '../useless-options.js';
import { createHostClient, type HostAddress, type HostClient } from './host-client.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

const URL_VARIABLE = 'MODGATE_URL';
const TOKEN_VARIABLE = 'MODGATE_TOKEN';
const CA_VARIABLE = 'MODGATE_CA';
/** Safe in a header: visible ASCII and inner spaces (RFC 9110, section 5.5, without obs-text). */
const TOKEN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

export function addHostOptions(command: Command): void {
  command.option(
    '--url <url>',
    `URL of the running host (${URL_VARIABLE}; default: ${DEFAULT_URL})`,
  );
  addCredentialOptions(command);
}

export function addCredentialOptions(command: Command): void {
  command
    .option('--token <token>', `Bearer token for the host (preferably ${TOKEN_VARIABLE})`)
    .option('--ca <file>', `Certificate authority of the host, PEM (${CA_VARIABLE})`);
}

/** @throws ConfigError for options of a host with `--modules`, and for options of files without it. */
export function assertOneSource(command: Command): void {
  rejectUselessOptions(command, {
    'without --modules': ['plugins'],
    'with --modules: choose files or a running host': ['url', 'token', 'ca'],
  });
}

/**
 * Creates a client for the host of the options.
 * @throws ConfigError for an invalid URL or token, without printing it.
 */
export function openHostClient(command: Command, { environment }: CommandContext): HostClient {
  const { url } = command.opts<{ url?: string }>();
  const variable = environment[URL_VARIABLE] || undefined;
  const source = url === undefined && variable !== undefined ? URL_VARIABLE : '--url';
  return createHostClient({
    url: parseHostUrl(url ?? variable ?? DEFAULT_URL, source),
    ...readCredentials(command, environment),
  });
}

/** @throws ConfigError for an invalid token or authority, without printing it. */
export function readCredentials(
  command: Command,
  environment: NodeJS.ProcessEnv,
): Pick<HostAddress, 'token' | 'ca'> {
  return { token: readToken(command, environment), ca: readAuthority(command, environment) };
}

/** @throws ConfigError that names the source and the file. */
function readAuthority(command: Command, environment: NodeJS.ProcessEnv): Buffer | null {
  const { ca: flag } = command.opts<{ ca?: string }>();
  const file = flag ?? (environment[CA_VARIABLE] || undefined);
  if (file === undefined) return null;
  try {
    const status = statSync(file);
    // Reading a pipe would wait for a writer.
    if (!status.isFile() || status.size > MAX_TEXT_LENGTH) throw new Error('not a small file');
    const bytes = readFileSync(file);
    // Throws for invalid certificates.
    return new X509Certificate(bytes).raw.length > 0 ? bytes : null;
  } catch (error) {
    const source = flag === undefined ? CA_VARIABLE : '--ca';
    throw new ConfigError(`${source} must be a file with a PEM certificate`, { cause: error });
  }
}

/** @throws ConfigError that names the source. */
export function parseHostUrl(text: string, source: string): string {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : null;
  const isPlain = url !== null && !url.username && !url.password && !/[?#]/.test(text);
  if (isPlain) return url.href.replace(/\/+$/, '');
  throw new ConfigError(
    `${source} must be an http or https URL without credentials or query, such as ${DEFAULT_URL}`,
  );
}

/** @throws ConfigError that names the source. */
function readToken(command: Command, environment: NodeJS.ProcessEnv): string | null {
  const { token: flag } = command.opts<{ token?: string }>();
  const token = flag ?? (environment[TOKEN_VARIABLE] || undefined);
  if (token === undefined) return null;
  assertTokenText(token, flag === undefined ? TOKEN_VARIABLE : '--token');
  return token;
}

/** @throws ConfigError that names the source. */
export function assertTokenText(token: string, source: string): void {
  if (TOKEN.test(token)) return;
  throw new ConfigError(`${source} must be a token: one line of visible ASCII`);
}
