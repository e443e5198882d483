import { parentPort } from 'node:worker_threads';
import type { ManifestRoute } from '../contract/index.js';
import { InvalidFile } from '../document/diagnostic.js';
import { type ManifestText, parseText } from './parse-text.js';
import type { ParseResult } from './parse-thread.js';

/** The number of routes in a message: reading a large manifest at once would take 50 ms. */
const ROUTES_AT_ONCE = 1000;

/** Routes of the last manifest that the main thread has not read yet. */
let rest: ManifestRoute[] = [];

/** @param request a manifest; `null` for further routes of the previous one */
parentPort?.on('message', (request: ManifestText | null) => {
  parentPort?.postMessage(request === null ? takeRoutes() : parse(request));
});

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
