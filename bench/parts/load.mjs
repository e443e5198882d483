import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { hasCommand, LOAD_CORE, readLine, spawnPinned } from './pinned-process.mjs';

/**
 * @typedef {object} LoadResult
 * @property {number} requests answered
 * @property {number} failed errors of any kind, and statuses but 2xx
 * @property {number} bytes received, heads and all
 * @property {number} seconds
 * @property {number} p50Ms
 * @property {number} p99Ms
 */

/**
 * @typedef {object} LoadOptions
 * @property {string} url
 * @property {Record<string, string>} headers
 * @property {string | null} bodyFile `null` for GET
 * @property {number} connections
 * @property {number} seconds
 * @property {number} [thinkMs] the mean pause of a connection before each request; default 0. wrk only.
 * @property {number} [spread] over how many modules, in turn; default 0, for the one of the URL. wrk only.
 */

/** wrk if installed: it needs a fifth of the CPU time of autocannon. */
export const loadGenerator = hasCommand('wrk', '-v') ? 'wrk' : 'autocannon';

/**
 * The file for `LoadOptions.bodyFile`; `null` for a payload without a body.
 * @param {string} folder
 * @param {import('./payloads.mjs').Payload} payload
 */
export function writeBody(folder, { request }) {
  if (request === null) return null;
  const file = join(folder, 'body.json');
  writeFileSync(file, request);
  return file;
}

/**
 * @param {LoadOptions} options
 * @returns {Promise<LoadResult>}
 */
export function applyLoad(options) {
  return loadGenerator === 'wrk' ? runWrk(options) : runAutocannon(options);
}

async function runWrk({ url, headers, bodyFile, connections, seconds, thinkMs = 0, spread = 0 }) {
  const script = new URL('../wrk.lua', import.meta.url).pathname;
  const child = spawnPinned(
    LOAD_CORE,
    'wrk',
    [
      '-t',
      '1',
      '-c',
      String(connections),
      '-d',
      `${seconds}s`,
      '--timeout',
      '10s',
      '-s',
      script,
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      url,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        BENCH_THINK_MS: String(thinkMs),
        BENCH_SPREAD: String(spread),
        ...(bodyFile && { BENCH_BODY: bodyFile }),
      },
    },
  );
  const line = await readLine(child, (text) => (text.startsWith('{') ? text : undefined));
  const { requests, microseconds, bytes, failed, p50, p99 } = JSON.parse(line);
  return {
    requests,
    failed,
    bytes,
    seconds: microseconds / 1e6,
    p50Ms: p50 / 1e3,
    p99Ms: p99 / 1e3,
  };
}

async function runAutocannon({ url, headers, bodyFile, connections, seconds }) {
  const cli = createRequire(import.meta.url).resolve('autocannon');
  const body =
    bodyFile === null ? [] : ['-m', 'POST', '-i', bodyFile, '-H', 'content-type=application/json'];
  const child = spawnPinned(
    LOAD_CORE,
    process.execPath,
    [
      cli,
      '--json',
      '-c',
      String(connections),
      '-d',
      String(seconds),
      ...body,
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
      url,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const result = JSON.parse(
    await readLine(child, (text) => (text.startsWith('{') ? text : undefined)),
  );
  return {
    requests: result.requests.total,
    failed: result.errors + result.timeouts + result.non2xx,
    bytes: result.throughput.total,
    seconds: result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  };
}
