import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyLoad, writeBody } from './load.mjs';
import { startModgate } from './modgate.mjs';
import { headersOf, PAYLOADS } from './payloads.mjs';
import { LOAD_CORE, startServer } from './pinned-process.mjs';

const CONNECTIONS = 32;

/**
 * Starts a host with these flags of Node.js, warms it up, and loads it with one payload: to look into it.
 * @param {object} options
 * @param {string} options.dist the folder of the build
 * @param {readonly string[]} options.nodeFlags
 * @param {string} [options.payload] its name; default GET 100 B
 * @param {number | null} [options.holdBytes] `limits.hold_bytes`
 * @param {number} options.warmUpSeconds
 * @param {number} options.seconds
 * @param {() => Promise<void>} [options.afterLoad] awaited before the host is stopped
 * @returns {Promise<import('./load.mjs').LoadResult>} of the load after the warm-up
 */
export async function loadHost({
  dist,
  nodeFlags,
  payload: name = 'GET 100 B',
  holdBytes = null,
  warmUpSeconds,
  seconds,
  afterLoad,
}) {
  const upstream = await startServer(LOAD_CORE, 'upstream.mjs');
  const host = await startModgate({ dist, upstream: upstream.url, nodeFlags, holdBytes });
  const files = mkdtempSync(join(tmpdir(), 'modgate-bench-body-'));
  const payload = PAYLOADS.find((one) => one.name === name);
  const bodyFile = writeBody(files, payload);
  const load = {
    url: host.url + payload.path,
    headers: { ...host.headers, ...headersOf(payload) },
    bodyFile,
    connections: CONNECTIONS,
  };
  try {
    await applyLoad({ ...load, seconds: warmUpSeconds });
    const result = await applyLoad({ ...load, seconds });
    if (result.failed > 0) throw new Error(`${result.failed} requests failed`);
    await afterLoad?.();
    return result;
  } finally {
    await host.stop();
    await upstream.stop();
    rmSync(files, { recursive: true, force: true });
  }
}
