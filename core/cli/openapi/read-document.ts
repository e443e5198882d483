import type { Command } from 'commander';
import { define } from 'superstruct';
import { SETTINGS } from '../../config/settings.js';
import { createHostClient } from '../client/host-client.js';
import { addHostOptions, assertOneSource, readHostAddress } from '../client/host-options.js';
import { parseHostResponse, requestText } from '../client/host-response.js';
import type { CommandContext } from '../command-module.js';
import { isDeeperThan, isObject, type JsonObject } from '../json-value.js';
import { openDescriptors } from '../open-descriptors.js';
import { createDocumentOfFiles } from './document-of-files.js';

/** Deeper than any document of a host. */
const MAX_DEPTH = 200;

const OPENAPI = define<JsonObject>('OpenAPI 3.1', (value) => {
  if (!isObject(value) || isDeeperThan(value, MAX_DEPTH)) return false;
  return /^3\.1\b/.test(String(value['openapi'])) && isObject(value['paths']);
});

/** The options that choose a host or files. */
export function addDocumentOptions(command: Command): void {
  command
    .option('--modules <dir>', 'Read the files of this folder of descriptors')
    .option('--plugins <dir>', SETTINGS.plugins.help);
  addHostOptions(command);
}

/**
 * The OpenAPI document, as JSON, of the modules that the arguments name: all without any.
 * @throws ConfigError when both a host and files are chosen.
 */
export function readDocument(command: Command, context: CommandContext): Promise<string> {
  assertOneSource(command);
  const { modules } = command.opts<{ modules?: string }>();
  return modules === undefined ? requestDocument(command, context) : readFiles(command, context);
}

async function requestDocument(command: Command, context: CommandContext): Promise<string> {
  const client = createHostClient(readHostAddress(command, context));
  const query = new URLSearchParams(command.args.map((name): [string, string] => ['module', name]));
  const text = await requestText(client, `/openapi.json${query.size === 0 ? '' : `?${query}`}`);
  parseHostResponse(client, text, OPENAPI);
  return text;
}

async function readFiles(command: Command, context: CommandContext): Promise<string> {
  const others = ['publicUrl', 'actorRate'] as const;
  const { config, path, descriptors } = await openDescriptors(others, command, context);
  const document = await createDocumentOfFiles(path, command.args, {
    descriptors: { ...descriptors, allowsMissingSecrets: true },
    host: {
      publicUrl: config.publicUrl,
      challenges: ['Bearer'],
      credentialHeaders: descriptors.credentialHeaders,
      limitsActors: config.actorRate > 0,
    },
  });
  return document.toString();
}
