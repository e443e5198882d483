import { MODULE_NAME, MODULE_NAME_RULE } from '../../descriptor/identifiers.js';
import { parseStructuredText } from '../../document/parse-document.js';
import { ConfigError } from '../../errors.js';
import type { NewFile } from './write-new-files.js';

export const MODULE_KINDS = ['local', 'http'] as const;

export type ModuleKind = (typeof MODULE_KINDS)[number];

/**
 * Creates the files of a new module. The descriptor comes last, so that a watching host finds the
 * files that it refers to.
 * @param schemas the path of the JSON Schemas from the folder of the descriptor; `null` for none
 * @throws ConfigError for an invalid module name.
 */
export function createModuleFiles(
  name: string,
  kind: ModuleKind,
  schemas: string | null,
): NewFile[] {
  if (!MODULE_NAME.test(name)) {
    throw new ConfigError(
      `the name of a module must be such as crm or acme/crm: ${MODULE_NAME_RULE}`,
    );
  }
  const stem = createStem(name);
  const manifest = {
    path: `${stem}/manifest.yaml`,
    content: createSchemaLine(schemas, '../', 'manifest') + createManifest(name),
  };
  const descriptor = {
    path: `${stem}.yaml`,
    content: createSchemaLine(schemas, '', 'descriptor') + createDescriptor(name, stem, kind),
  };
  if (kind === 'http') return [manifest, descriptor];
  return [manifest, { path: `${stem}/module.mjs`, content: LOCAL_MODULE }, descriptor];
}

/** Editors with YAML support read this comment. */
function createSchemaLine(schemas: string | null, up: '' | '../', name: string): string {
  if (schemas === null) return '';
  return `# yaml-language-server: $schema=${up}${schemas}/${name}.schema.json\n`;
}

/** `acme/crm` becomes `acme-crm`. Avoids names that end in `.manifest`, which are never descriptors. */
export function createStem(name: string): string {
  return name.replaceAll('/', '-').replace(/\.manifest$/, '-manifest');
}

function createDescriptor(name: string, stem: string, kind: ModuleKind): string {
  return `apiVersion: modgate/v1
module: ${quote(name)}
${kind === 'local' ? createLocalProvider(stem) : HTTP_PROVIDER}
manifest: ${quote(`./${stem}/manifest.yaml`)}
`;
}

function createLocalProvider(stem: string): string {
  return `provider:
  kind: local
  config:
    file: ${quote(`./${stem}/module.mjs`)}`;
}

const HTTP_PROVIDER = `provider:
  kind: http
  config:
    # Where the service listens.
    endpoints: [http://127.0.0.1:4100]
    # Checks each endpoint: calls go to those that answer with 2xx.
    # health: { path: /health }`;

function createManifest(name: string): string {
  // Uses only the last part of the name, because a capability has a lower maximum length.
  const capability = `${name.replace(/^.*\//, '')}.read`;
  return `protocol: modgate.manifest.v1
module_id: ${quote(name)}
version: 0.1.0
capabilities:
  - ${quote(capability)}
http_routes:
  - method: GET
    path: /hello/{name}
    capability: ${quote(capability)}
    summary: Say hello
`;
}

const LOCAL_MODULE = `// The default export handles each operation of the manifest and returns {status, headers, body}.
const ROUTES = {
  'GET /hello/{name}': sayHello,
};

export default async function handle(operation) {
  const route = ROUTES[\`\${operation.method} \${operation.declaredPath}\`];
  return route(operation);
}

function sayHello({ pathParams }) {
  return { status: 200, body: { hello: pathParams.name } };
}
`;

/** Quotes only texts that YAML would parse as another type: 1.0, true, null. */
export function quote(text: string): string {
  const isPlain = parseStructuredText(text, 'yaml').value === text;
  return isPlain ? text : `'${text}'`;
}
