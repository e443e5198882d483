import type { Command } from 'commander';
import { define } from 'superstruct';
import { SETTINGS } from '../../config/settings.js';
import { compareNames } from '../../lib/compare-texts.js';
import { createRoutes } from '../../modules/live-module.js';
import { configDigestOf, type DescriptorContext } from '../../modules/prepare-descriptor.js';
import { DocumentBuilder, type DocumentForm, WHOLE_FORM } from '../../openapi/create-document.js';
import type { DescribedHost, DescribedModule } from '../../openapi/described-module.js';
import { OperationNames } from '../../openapi/operation-names.js';
import { type CheckedDescriptor, checkDescriptors } from '../check/check-descriptors.js';
import { addHostOptions, assertOneSource, openHostClient } from '../client/host-options.js';
import { parseHostResponse, requestText } from '../client/host-response.js';
import { CommandError } from '../command-error.js';
import type { CommandContext } from '../command-module.js';
import { isObject, isTooDeep, type JsonObject } from '../json-value.js';
import { openDescriptors } from '../open-descriptors.js';

/** The methods of operations, in the order of routes. */
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const OPENAPI = define<JsonObject>('OpenAPI 3.1', (value) => {
  if (!isObject(value) || isTooDeep(value)) return false;
  return /^3\.1\b/.test(String(value['openapi'])) && isObject(value['paths']);
});

export function addDocumentOptions(command: Command): void {
  command
    .option('--modules <dir>', 'Read the files of this folder of descriptors')
    .option('--plugins <dir>', SETTINGS.plugins.help);
  addHostOptions(command);
}

/**
 * Returns the OpenAPI document, as JSON, of the modules that the arguments name, or of all modules.
 * @throws ConfigError when both a host and files are chosen.
 */
export function readDocument(
  command: Command,
  context: CommandContext,
  view: DocumentForm['view'],
): Promise<string> {
  assertOneSource(command);
  const { modules } = command.opts<{ modules?: string }>();
  const read = modules === undefined ? requestDocument : readFiles;
  return read(command, context, view);
}

async function requestDocument(
  command: Command,
  context: CommandContext,
  view: DocumentForm['view'],
): Promise<string> {
  const client = openHostClient(command, context);
  const query = new URLSearchParams(command.args.map((name): [string, string] => ['module', name]));
  if (view !== null) query.set('view', view);
  const text = await requestText(client, `/openapi.json${query.size === 0 ? '' : `?${query}`}`);
  parseHostResponse(client, text, OPENAPI);
  return text;
}

async function readFiles(
  command: Command,
  context: CommandContext,
  view: DocumentForm['view'],
): Promise<string> {
  const others = ['publicUrl', 'actorRate', 'authFailures'] as const;
  const { config, path, descriptors } = await openDescriptors(others, command, context);
  const document = await createDocumentOfFiles(path, command.args, {
    descriptors: { ...descriptors, allowsMissingSecrets: true },
    host: {
      publicUrl: config.publicUrl,
      challenges: ['Bearer'],
      credentialHeaders: descriptors.credentialHeaders,
      limitsCallers: config.actorRate > 0 || config.authFailures > 0,
    },
    view,
  });
  return document.toString();
}

interface FilesInput {
  readonly descriptors: DescriptorContext;
  readonly host: DescribedHost;
  readonly view: DocumentForm['view'];
}

/**
 * Creates the OpenAPI document of a host with these files.
 * @param only the names of the modules to describe; empty for all
 * @throws CommandError for a module that is missing or invalid.
 */
async function createDocumentOfFiles(
  folder: string,
  only: readonly string[],
  { descriptors: context, host, view }: FilesInput,
): Promise<Buffer> {
  const { descriptors } = await checkDescriptors(folder, context);
  const modules = descriptors.flatMap(describeModule).sort(compareNames);
  const missing = only.find((name) => !modules.some((module) => module.name === name));
  if (missing !== undefined) {
    throw new CommandError(`${folder} has no module '${missing}' that can be described`);
  }
  const form = { ...WHOLE_FORM, view };
  const builder = new DocumentBuilder({ host, names: OperationNames.of(modules), form });
  for (const module of modules) {
    if (only.length === 0 || only.includes(module.name)) builder.add(module);
  }
  return Buffer.concat(builder.build().pieces);
}

/** Skips a module that a host would not serve, or not before it has a manifest. */
function describeModule({ prepared }: CheckedDescriptor): DescribedModule[] {
  if (!prepared?.manifest || !prepared.descriptor.enabled) return [];
  const { descriptor, inputDigest } = prepared;
  const { manifest, digest } = prepared.manifest;
  const configDigest = configDigestOf(inputDigest, digest);
  const routes = createRoutes({ descriptor }, manifest);
  return [{ name: descriptor.module, configDigest, descriptor, manifest, routes }];
}
