import type { Command } from 'commander';
import { SETTINGS } from '../../config/settings.js';
import { MODULE_NAME } from '../../descriptor/identifiers.js';
import { ConfigError } from '../../errors.js';
import { parseHostUrl } from '../client/host-options.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { compareManifests, type ManifestChange } from '../import/compare-manifests.js';
import { convertDocument, listServerPaths } from '../import/convert-document.js';
import { formatImport, type ImportReport } from '../import/format-import.js';
import { ImportFiles } from '../import/import-files.js';
import { parseOpenApi } from '../import/openapi-document.js';
import { readDocuments } from '../import/read-documents.js';
import type { JsonObject } from '../json-value.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption, choiceArgument } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

interface ImportOptions {
  readonly module: string;
  readonly endpoint: string;
  readonly out: string;
  readonly write?: true;
  readonly check?: true;
}

const HELP = `
Writes a descriptor and a manifest, and lists what a manifest cannot express.
Run again, it prints the difference to the files and changes them only with
--write: the manifest, and the endpoint in the descriptor. With --check it
writes nothing and exits with 1 when clients would notice the difference.`;

/** The syntax of an endpoint of kind http. */
const ENDPOINT = /^https?:\/\/[^/?#@\\\s]+(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)*$/i;

export function define(command: Command): void {
  command
    .addArgument(choiceArgument('<what>', 'openapi', ['openapi']))
    .argument(
      '<source>',
      'File or URL of a document of OpenAPI 3.0 to 3.2, or Swagger 2.0, JSON or YAML',
    )
    .requiredOption('--module <name>', 'Name of the module, such as crm or acme/crm')
    .requiredOption('--endpoint <url>', 'URL of the service, with the base path of the document')
    .option('--out <dir>', 'Target folder', SETTINGS.modules.default)
    .option('--write', 'Write the difference into the files of an earlier import')
    .option('--check', 'Exit with 1 if clients would notice the difference; write nothing')
    .addHelpText('after', HELP);
  addJsonOption(command, 'the files, the difference and what is not mapped');
  addUselessOptions(command, { 'with --write': ['check'] });
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const options = readOptions(command);
  const report = await importDocument(command.args[1] ?? '', options);
  await printResult(command, context, report, formatImport, 2);
  const { changes } = report;
  const isNoticed = changes === null || changes.some(({ affectsClients }) => affectsClients);
  return options.check === true && isNoticed ? EXIT.failure : EXIT.ok;
}

function readOptions(command: Command): ImportOptions {
  const options = command.opts<ImportOptions>();
  const { module, endpoint } = options;
  if (!MODULE_NAME.test(module)) {
    throw new ConfigError('--module must be lower case, such as crm or acme/crm');
  }
  const url = parseHostUrl(endpoint, '--endpoint');
  if (!ENDPOINT.test(url) || /%(?![0-9a-f]{2})/i.test(url)) {
    throw new ConfigError('--endpoint has a path that a request cannot have');
  }
  return { ...options, endpoint: url };
}

async function importDocument(source: string, options: ImportOptions): Promise<ImportReport> {
  const { module, endpoint, out } = options;
  const files = new ImportFiles(out, module);
  const earlier = await files.readEarlier();
  const { root, unread } = await readDocuments(source);
  const document = parseOpenApi(root, unread);
  const { manifest, unmapped } = convertDocument(document, module);
  const { http_routes: routes, capabilities } = manifest;
  const base = { module, routes: routes.length, capabilities, unmapped };
  const notes = noteServers(listServerPaths(document), endpoint);
  if (earlier === null) {
    const descriptor = files.createDescriptor(endpoint, document);
    const written = options.check === true ? [] : await files.create(manifest, descriptor);
    return { ...base, written, changes: null, notes };
  }
  const changes = compareManifests(earlier, manifest as unknown as JsonObject);
  const move = await files.moveEndpoint(endpoint);
  const written: string[] = [];
  if (options.write === true && changes.length > 0) {
    await files.replaceManifest(manifest);
    written.push(files.manifest);
  }
  if (options.write === true && move !== null) {
    await move();
    written.push(files.descriptor);
  }
  const all = move === null ? changes : [...changes, ENDPOINT_CHANGE];
  return { ...base, written, changes: all, notes };
}

/** Clients do not see the endpoint. */
const ENDPOINT_CHANGE: ManifestChange = {
  change: 'changed',
  place: 'the endpoint in the descriptor',
  affectsClients: false,
};

function noteServers(paths: readonly string[], endpoint: string): string[] {
  const [path] = paths;
  if (path === undefined || paths.some((suffix) => endpoint.endsWith(suffix))) return [];
  return [`the document has its paths below ${path}: --endpoint has another path`];
}
