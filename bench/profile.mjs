// Where the host spends its CPU time under one payload, by default GET 100 B:
// `node bench/profile.mjs [build] [seconds] [payload] [hold_bytes]` leaves the
// profile (for Chrome's or an editor's viewer) and prints functions by self time.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { loadHost } from './parts/loaded-host.mjs';
import { pinSelf } from './parts/pinned-process.mjs';

const DEFAULT_SECONDS = 15;
const WARM_UP_SECONDS = 4;
// Five samples a request and more: the default of 1000 µs is longer than a request.
const SAMPLE_MICROSECONDS = 200;
const TOP_FUNCTIONS = 70;
const TOP_FILES = 45;

const [, , dist = 'dist', seconds = DEFAULT_SECONDS, payload, hold] = process.argv;
const folder = mkdtempSync(join(tmpdir(), 'modgate-profile-'));

pinSelf();
const requests = await recordProfile();
const [file] = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
printProfile(JSON.parse(readFileSync(join(folder, file), 'utf8')));
process.stdout.write(`\n${requests} requests; the profile is ${join(folder, file)}\n`);

async function recordProfile() {
  const { requests } = await loadHost({
    dist,
    nodeFlags: [
      '--cpu-prof',
      `--cpu-prof-dir=${folder}`,
      `--cpu-prof-interval=${SAMPLE_MICROSECONDS}`,
    ],
    payload,
    holdBytes: hold === undefined ? null : Number(hold),
    warmUpSeconds: WARM_UP_SECONDS,
    seconds: Number(seconds),
  });
  return requests;
}

/** Shares are of the time that the process was not idle. */
function printProfile({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const functions = new Map();
  const files = new Map();
  let busy = 0;
  samples.forEach((id, index) => {
    const { functionName, url, lineNumber } = byId.get(id).callFrame;
    if (functionName === '(idle)' || functionName === '(program)') return;
    const spent = timeDeltas[index];
    const place = shorten(url);
    busy += spent;
    add(functions, `${functionName || '(anonymous)'}  ${place}:${lineNumber + 1}`, spent);
    add(files, place || functionName, spent);
  });
  printTop('function, self time', functions, busy, TOP_FUNCTIONS);
  printTop('file, self time', files, busy, TOP_FILES);
}

function shorten(url) {
  return url.replace(`file://${resolve(dist)}/`, '').replace(/^.*node_modules\//, '');
}

function add(sums, name, spent) {
  sums.set(name, (sums.get(name) ?? 0) + spent);
}

function printTop(title, sums, busy, count) {
  process.stdout.write(`\n${title}\n`);
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, count);
  for (const [name, spent] of sorted) {
    process.stdout.write(`${((spent / busy) * 100).toFixed(2).padStart(6)} %  ${name}\n`);
  }
}
