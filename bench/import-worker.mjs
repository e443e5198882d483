// Reads paths of documents from stdin, one per line, imports each, and writes one line of JSON for it.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { convertDocument } from '../dist/core/cli/import/convert-document.js';
import { parseOpenApi } from '../dist/core/cli/import/parse-openapi.js';
import { isOperation, SHARED_ROUTE } from '../dist/core/cli/import/unmapped.js';
import { parseText } from '../dist/core/manifest/parse-text.js';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
/** Parts that no request to a module can express. */
const INEXPRESSIBLE = /^(?:OPTIONS|TRACE|HEAD) /;

for await (const path of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify({ path, ...importOne(path) })}\n`);
}

function importOne(path) {
  const startedAt = performance.now();
  let converted;
  let document;
  try {
    document = parseOpenApi(JSON.parse(readFileSync(path, 'utf8')));
    converted = convertDocument(document, 'module');
  } catch (error) {
    return { refused: String(error.message) };
  }
  const text = JSON.stringify(converted.manifest);
  const ms = Math.round(performance.now() - startedAt);
  const places = listOperations(document.root);
  const missing = converted.unmapped.filter(isOperation);
  const left = converted.unmapped.filter((one) => !isOperation(one));
  const shared = left.filter(({ part }) => part === SHARED_ROUTE).length;
  return {
    ms,
    rssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    operations: places.length,
    expressible: places.filter((place) => !INEXPRESSIBLE.test(place)).length,
    // Operations of one shape share a route.
    routes: converted.manifest.http_routes.length + shared,
    bytes: Buffer.byteLength(text),
    missing: count(missing.map(({ reason }) => reason)),
    left: count(left.map(({ part, reason }) => `${shorten(part)}: ${reason}`)),
    ...check(text),
  };
}

/** Checks the module as `modgate check` does. */
function check(text) {
  try {
    const source = { file: 'manifest.json', text, format: 'json', hasPlaces: false };
    parseText({ ...source, checksExamples: true });
    return {};
  } catch (error) {
    return { failing: error.diagnostics?.[0]?.message ?? String(error) };
  }
}

function listOperations({ paths }) {
  return Object.entries(paths ?? {}).flatMap(([path, item]) => {
    return METHODS.filter((method) => typeof item?.[method] === 'object').map(
      (method) => `${method.toUpperCase()} ${path}`,
    );
  });
}

/** Omits names of parameters and types, which differ in each document. */
function shorten(part) {
  return part.replace(/ (?:parameter|header|example|cookie|as|redirect) .*$/, (words) => {
    return words.startsWith(' as ') ? ' as another type' : words.split(' ').slice(0, 2).join(' ');
  });
}

function count(keys) {
  const counts = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
