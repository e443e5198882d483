import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type { ManifestRoute } from '../contract/index.js';
import { InvalidFile } from '../document/diagnostic.js';
import { type ManifestText, parseText } from './parse-text.js';
import type { ParseResult } from './parse-thread.js';

/** The number of routes in a message, which takes 2 ms to read: a large manifest would take 50 ms. */
const ROUTES_AT_ONCE = 250;
/** The priority of the thread: calls are served first where cores are short. */
const NICENESS = 10;

/** Routes of the last manifest that the main thread has not read yet. */
let rest: ManifestRoute[] = [];

lowerPriority();

/** @param request a manifest; `null` for further routes of the previous one */
parentPort?.on('message', (request: ManifestText | null) => {
  parentPort?.postMessage(request === null ? takeRoutes() : parse(request));
});

/** On Linux each thread has a priority, and this link names the thread. */
function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Other systems let threads share the cores.
  }
}

function takeRoutes(): ManifestRoute[] {
  return rest.splice(0, ROUTES_AT_ONCE);
}

function parse(text: ManifestText): ParseResult {
  try {
    const { manifest, ...parsed } = parseText(text);
    rest = [...manifest.http_routes];
    const first = { ...manifest, http_routes: takeRoutes() };
    return { kind: 'parsed', parsed: { ...parsed, manifest: first }, further: rest.length };
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return { kind: 'invalid', diagnostics: error.diagnostics };
  }
}
