// Garbage of a GET of 100 B, by function: node bench/garbage.mjs [build, default dist] [--survivors]
// With --survivors only what survives young collections, which should be little more than the call record.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadHost } from './parts/loaded-host.mjs';
import { pinSelf } from './parts/pinned-process.mjs';

const WARM_UP_SECONDS = 7;
const SAMPLE_SECONDS = 4;
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
  Object.assign(process.env, {
    SAMPLE_AFTER_MS: String((WARM_UP_SECONDS + 1) * 1000),
    SAMPLE_MS: String(SAMPLE_SECONDS * 1000),
    SAMPLE_SURVIVORS: String(values.survivors),
    SAMPLE_FILE: file,
  });
  const preload = new URL('./parts/sampled-allocations.mjs', import.meta.url).href;
  const { requests, seconds } = await loadHost({
    dist,
    nodeFlags: ['--import', preload],
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: SAMPLE_SECONDS + 2,
    afterLoad: async () => {
      while (!existsSync(file)) await pause(100);
    },
  });
  return requests / seconds;
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
