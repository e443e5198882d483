import { parentPort } from 'node:worker_threads';
import { InvalidFile } from '../document/diagnostic.js';
import { type ManifestText, parseText } from './parse-text.js';
import type { ParseResult } from './parse-thread.js';

parentPort?.on('message', (text: ManifestText) => parentPort?.postMessage(parse(text)));

function parse(text: ManifestText): ParseResult {
  try {
    return { kind: 'parsed', parsed: parseText(text) };
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return { kind: 'invalid', diagnostics: error.diagnostics };
  }
}
