import { MODULE_NAME } from '../../descriptor/identifiers.js';
import { parseStructuredText } from '../../document/parse-document.js';
import { ConfigError } from '../../errors.js';
import type { NewFile } from './write-new-files.js';

export const MODULE_KINDS = ['local', 'http'] as const;

export type ModuleKind = (typeof MODULE_KINDS)[number];

/**
 * The files of a new module: its own first, the descriptor last, so that a host that watches the folder
 * finds all of it.
 * @param schemas where the JSON Schemas are, from the folder of the descriptor; `null`: none are named
 * @throws ConfigError for what is no module's name.
 */
export function createModuleFiles(
  name: string,
  kind: ModuleKind,
  schemas: string | null,
): NewFile[] {
  if (!MODULE_NAME.test(name)) {
    throw new ConfigError('the name of a module is lower case, such as crm or acme/crm');
  }
  const stem = createStem(name);
  const manifest = {
    path: `${stem}/manifest.yaml`,
    text: createSchemaLine(schemas, '../', 'manifest') + createManifest(name),
  };
  const descriptor = {
    path: `${stem}.yaml`,
    text: createSchemaLine(schemas, '', 'descriptor') + createDescriptor(name, stem, kind),
  };
  if (kind === 'http') return [manifest, descriptor];
  return [manifest, { path: `${stem}/module.mjs`, text: LOCAL_MODULE }, descriptor];
}

/** Editors with YAML support read it. */
function createSchemaLine(schemas: string | null, up: '' | '../', name: string): string {
  if (schemas === null) return '';
  return `# yaml-language-server: $schema=${up}${schemas}/${name}.schema.json\n`;
}

/** `acme/crm` lies in `acme-crm.yaml`; a name that would make the file a manifest's is bent. */
function createStem(name: string): string {
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
    endpoints: [http://127.0.0.1:4100]`;

function createManifest(name: string): string {
  // Of the last part alone: a capability is shorter than a name may be.
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
    summary: Greet somebody
`;
}

const LOCAL_MODULE = `// The default export answers each operation of the manifest with {status, headers, body}.
const ROUTES = {
  'GET /hello/{name}': sayHello,
};

export default async function answer(operation) {
  const route = ROUTES[\`\${operation.method} \${operation.declaredPath}\`];
  return route(operation);
}

function sayHello({ pathParams }) {
  return { status: 200, body: { hello: pathParams.name } };
}
`;

/** In quotes only where YAML would read something else: 1.0, true, null. */
function quote(text: string): string {
  const isPlain = parseStructuredText(text, 'yaml').value === text;
  return isPlain ? text : `'${text}'`;
}
