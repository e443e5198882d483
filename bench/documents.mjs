// Imports public API documents, calls their operations with the examples of the document, and reports what a host
// rejects or changes although the document allows it; compiles their typed clients; imports those in several files
// from their sources and from a bundle of them.
//
//   node bench/documents.mjs [--cache DIR] [--folder DIR] [--only TEXT] [--operations N] [--mode raw|envelope] [--clients]
//     [--out FILE]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { parse as parseYaml } from 'yaml';
import { createClientPlace } from '../dist/test/support/typescript/compile.js';
import { compileClient } from '../dist/test/support/typescript/public-clients.js';
import { callAll, startProvider } from './parts/documented-calls.mjs';
import { startHost } from './parts/import-paths.mjs';
import { CACHE } from './parts/openapi-directory.mjs';
import { fetchDocuments } from './parts/public-documents.mjs';

const MAIN = fileURLToPath(new URL('../dist/core/main.js', import.meta.url));
const SHOWN = 40;

const { values } = parseArgs({
  options: {
    cache: { type: 'string', default: join(CACHE, 'documents') },
    folder: { type: 'string' },
    only: { type: 'string', default: '' },
    operations: { type: 'string', default: '60' },
    clients: { type: 'boolean', default: false },
    mode: { type: 'string', default: 'raw' },
    out: { type: 'string' },
  },
});

const documents = [...fetchDocuments(values.cache), ...listFolder(values.folder)].filter(
  ({ name }) => name.includes(values.only),
);
const results = [];
for (const document of documents) {
  const result = await measure(document);
  results.push(result);
  print(result);
}
printTotals();
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(results, null, 2)}\n`);

function listFolder(folder) {
  const names = folder === undefined ? [] : readdirSync(folder);
  return names.map((name) => ({ name, file: join(folder, name) }));
}

async function measure({ name, file, isSources = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-documents-'));
  const provider = await startProvider();
  try {
    const imported = importDocument(folder, 'api', file, provider.url);
    if (imported.error !== undefined) return { name, ...imported };
    const root = isSources ? await bundle(file) : readDocument(file);
    const host = await startHost(join(folder, 'modules.d'));
    try {
      const calls = await callAll(root, host.url, provider, {
        wanted: Number(values.operations),
        mode: values.mode,
      });
      return {
        name,
        ...imported,
        ...calls,
        ...(values.clients && { client: await measureClient(file) }),
        ...(isSources && { sources: compareSources(folder, root, provider.url) }),
      };
    } finally {
      host.child.kill();
    }
  } finally {
    provider.server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The types of a client are those of the envelope. */
async function measureClient(file) {
  const place = createClientPlace();
  const settings = { mode: 'envelope' };
  const { error } = importDocument(place.folder, 'api', file, 'https://api.example', settings);
  return error === undefined ? await compileClient(place) : [error];
}

/** Responses are checked too, by a setting that operators may choose. */
function importDocument(
  folder,
  module,
  file,
  endpoint,
  { mode = values.mode, out = 'modules.d' } = {},
) {
  const args = ['import', 'openapi', file, '--module', module, '--endpoint', endpoint];
  const { status, stdout, stderr } = run(folder, [...args, '--out', out, '--json']);
  if (status !== 0) return { error: stderr.trim() };
  const { routes, unmapped } = JSON.parse(stdout);
  const descriptor = join(folder, out, `${module}.yaml`);
  const text = readFileSync(descriptor, 'utf8');
  const settings = `schemas: { input: enforce, output: enforce }\nresponses: { mode: ${mode} }\n`;
  writeFileSync(descriptor, `${text}\n${settings}`);
  return { routes, unmapped: unmapped.length };
}

function run(cwd, args) {
  return spawnSync(process.execPath, [MAIN, ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
}

function readDocument(file) {
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  return file.endsWith('.json')
    ? JSON.parse(text)
    : parseYaml(text, { maxAliasCount: -1, merge: true });
}

async function bundle(file) {
  const redocly = createRequire(import.meta.url)('@redocly/openapi-core');
  const config = await redocly.createConfig({});
  const { bundle: bundled } = await redocly.bundle({ ref: file, config });
  return bundled.parsed;
}

/** Names of schemas that clash differ between tools, so that schemas are compared by content. */
function compareSources(folder, root, endpoint) {
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(root));
  const { error } = importDocument(folder, 'api', join(folder, 'bundle.json'), endpoint, {
    out: 'bundled',
  });
  if (error !== undefined) return { error };
  const [separate, together] = ['modules.d', 'bundled'].map((out) =>
    JSON.parse(readFileSync(join(folder, out, 'api/manifest.json'), 'utf8')),
  );
  const differing = separate.http_routes.filter((route, index) => {
    const other = together.http_routes[index];
    return !isDeepStrictEqual(withSchemas(route, separate), withSchemas(other, together));
  });
  return { differing: differing.map(({ method, path }) => `${method} ${path}`) };
}

/** Replaces references to shared schemas by their numbers in the order of their first use. */
function withSchemas(value, { schemas = {} }) {
  const numbers = new Map();
  const visit = (part) => {
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) return part.map(visit);
    return Object.fromEntries(
      Object.entries(part).map(([key, member]) => [
        key,
        key === '$ref' ? number(member) : visit(member),
      ]),
    );
  };
  const contents = [];
  const number = (reference) => {
    if (!numbers.has(reference)) {
      numbers.set(reference, numbers.size);
      const schema = schemas[reference.replace('manifest:schemas/', '')];
      contents[numbers.get(reference)] = visit(schema);
    }
    return numbers.get(reference);
  };
  return { value: visit(value), contents };
}

function print({ name, error, failures = [], contradictions = [], ...result }) {
  if (error !== undefined) {
    console.log(`${name}: REFUSED: ${error}`);
    return;
  }
  const { routes, operations, calls, good, skipped, client, sources } = result;
  const counts = `${operations} operations of ${routes} routes, ${good} of ${calls} calls as documented`;
  const left = `${contradictions.length} examples that it does not allow, ${skipped.length} without a value`;
  console.log(`${name}: ${counts} (${left})`);
  for (const failure of failures.slice(0, SHOWN))
    console.log(`  ${JSON.stringify(failure).slice(0, 900)}`);
  if (client !== undefined)
    console.log(`  client: ${client.length} errors ${client.slice(0, 5).join('; ')}`);
  if (sources !== undefined) console.log(`  sources: ${JSON.stringify(sources)}`);
}

function printTotals() {
  const count = (kind) =>
    results.flatMap(({ failures = [] }) => failures).filter((one) => one.kind === kind).length;
  const kinds = ['rejected', 'changed', 'response', 'changed response'];
  console.log(
    `${results.length} documents; ${kinds.map((kind) => `${count(kind)} ${kind}`).join(', ')}`,
  );
}
