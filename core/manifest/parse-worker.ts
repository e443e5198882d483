import { parentPort } from 'node:worker_threads';
import type { ManifestRoute } from '../contract/index.js';
import { InvalidFile } from '../document/diagnostic.js';
import { type ManifestText, parseText } from './parse-text.js';
import type { ParseResult } from './parse-thread.js';

/** The main thread reads so many at once: a large manifest would take 50 ms. */
const ROUTES_AT_ONCE = 1000;

/** Routes of the last manifest that the main thread has not read yet. */
let rest: ManifestRoute[] = [];

/** @param asked `null` asks for further routes of the last manifest */
parentPort?.on('message', (asked: ManifestText | null) => {
  parentPort?.postMessage(asked === null ? takeRoutes() : parse(asked));
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
