import { closeSync, openSync, readFileSync } from 'node:fs';
import { createModulesFolder } from './modules-folder.mjs';
import { HOST_CORE, pidOf, spawnPinned, stop } from './pinned-process.mjs';

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 2;

/**
 * Starts the host with everything on: tokens, capabilities, metrics, call records, and its log in a file.
 * @param {object} options
 * @param {string} options.dist the folder of the build
 * @param {string} options.upstream
 * @param {'http' | 'local'} [options.kind]
 * @param {number} [options.modules]
 * @param {number} [options.routes] of each module
 * @param {'envelope' | 'raw'} [options.mode] what callers get of a response
 * @param {number | null} [options.holdBytes] `limits.hold_bytes` and `limits.hold_request_bytes`; `null`, the default, for that of the host
 * @param {boolean} [options.hasIssuedToken] whether callers present a JWT instead of a token of the host's file
 * @param {readonly string[]} [options.nodeFlags]
 * @param {readonly string[]} [options.args] further flags of the host
 * @param {number | string} [options.core] the cores that it may use, as `0,1`
 */
export async function startModgate({
  dist,
  upstream,
  kind = 'http',
  modules = 1,
  routes = 0,
  mode = 'envelope',
  holdBytes = null,
  hasIssuedToken = false,
  nodeFlags = [],
  args = [],
  core = HOST_CORE,
}) {
  const files = createModulesFolder({ upstream, kind, modules, routes, mode, holdBytes });
  const log = openSync(files.log, 'w');
  const startedAt = performance.now();
  const child = spawnPinned(
    core,
    process.execPath,
    [
      ...nodeFlags,
      `${dist}/core/main.js`,
      'serve',
      '--port',
      '0',
      '--modules',
      files.folder,
      '--state',
      files.state,
      ...(hasIssuedToken ? ['--issuers', files.issuers] : ['--tokens', files.tokens]),
      ...args,
    ],
    { stdio: ['ignore', log, 'inherit'], env: { ...process.env, MODGATE_ENV: 'production' } },
  );
  closeSync(log);
  const url = await waitForUrl(child, files.log);
  return {
    pid: pidOf(child),
    url: url + files.prefix,
    headers: hasIssuedToken ? files.issuedHeaders : files.headers,
    startMs: performance.now() - startedAt,
    stop: async () => {
      await stop(child);
      files.remove();
    },
  };
}

/** The log is a file, as in production: it is polled for the line with the URL. */
async function waitForUrl(child, log) {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < giveUpAt && child.exitCode === null) {
    const listening = /^\{.*"msg":"listening".*$/m.exec(readFileSync(log, 'utf8'));
    if (listening !== null) return JSON.parse(listening[0]).url;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`modgate did not start:\n${readFileSync(log, 'utf8').slice(-2000)}`);
}
