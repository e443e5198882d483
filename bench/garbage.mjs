// What a GET of 100 B leaves to be collected, by function: node bench/garbage.mjs [build, default dist] [--survivors]
// With --survivors only what outlives the young collections: little should but the record of the call.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { applyLoad } from './load.mjs';
import { startModgate } from './modgate.mjs';
import { PAYLOADS } from './payloads.mjs';
import { LOAD_CORE, pinSelf, startServer } from './pinned-process.mjs';

const WARM_UP_SECONDS = 7;
const SAMPLE_SECONDS = 4;
const CONNECTIONS = 32;
const TOP = 40;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { survivors: { type: 'boolean', default: false } },
});
const [dist = 'dist'] = positionals;
const folder = mkdtempSync(join(tmpdir(), 'modgate-garbage-'));
const file = join(folder, 'profile.json');

pinSelf();
const perSecond = await sample();
print(JSON.parse(readFileSync(file, 'utf8')), perSecond * SAMPLE_SECONDS);
rmSync(folder, { recursive: true });

async function sample() {
  const upstream = await startServer(LOAD_CORE, 'upstream.mjs');
  Object.assign(process.env, {
    SAMPLE_AFTER_MS: String((WARM_UP_SECONDS + 1) * 1000),
    SAMPLE_MS: String(SAMPLE_SECONDS * 1000),
    SAMPLE_SURVIVORS: String(values.survivors),
    SAMPLE_FILE: file,
  });
  const preload = new URL('./sampled-allocations.mjs', import.meta.url).href;
  const host = await startModgate({ dist, upstream: upstream.url, nodeFlags: ['--import', preload] });
  const [{ path }] = PAYLOADS;
  const load = { url: host.url + path, headers: host.headers, bodyFile: null, connections: CONNECTIONS };
  try {
    await applyLoad({ ...load, seconds: WARM_UP_SECONDS });
    const { requests, seconds } = await applyLoad({ ...load, seconds: SAMPLE_SECONDS + 2 });
    while (!existsSync(file)) await pause(100);
    return requests / seconds;
  } finally {
    await host.stop();
    await upstream.stop();
  }
}

/** Bytes a request, by the function that allocates; for Node's own also by its caller. */
function print({ head }, requests) {
  const sums = new Map();
  let total = 0;
  const visit = ({ callFrame, selfSize, children }, caller) => {
    const { functionName, url, lineNumber } = callFrame;
    const place = `${functionName || '(anonymous)'}  ${shorten(url)}:${lineNumber + 1}`;
    const name = url === '' || url.startsWith('node:') ? `${place}  < ${caller}` : place;
    sums.set(name, (sums.get(name) ?? 0) + selfSize);
    total += selfSize;
    for (const child of children) visit(child, place);
  };
  visit(head, '');
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, TOP);
  for (const [name, bytes] of sorted) console.log(`${(bytes / requests).toFixed(0).padStart(6)}  ${name}`);
  console.log(`${(total / requests).toFixed(0).padStart(6)}  bytes a request, ${Math.round(requests)} requests`);
}

function shorten(url) {
  return url.replace(/^.*node_modules\//, '').replace(/^file:.*?\/(?=core\/|plugins\/)/, '');
}
