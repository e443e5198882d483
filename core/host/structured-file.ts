import type { StructuredText, TextFormat } from '../document/parse-document.js';
import { InvalidText, parseStructuredText } from '../document/parse-document.js';
import type { Finding } from './finding.js';
import { InvalidFile } from './finding.js';

/** By the ending; what has neither is JSON if it starts like an object. */
export function detectFormat(file: string, text: string): TextFormat {
  if (/\.json$/i.test(file)) return 'json';
  if (/\.ya?ml$/i.test(file)) return 'yaml';
  return text.trimStart().startsWith('{') ? 'json' : 'yaml';
}

/** @throws InvalidFile when the text cannot be read. */
export function readStructuredText(
  file: string,
  text: string,
  format: TextFormat = detectFormat(file, text),
): StructuredText {
  try {
    return parseStructuredText(text, format);
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    throw new InvalidFile(
      error.faults.map((fault): Finding => ({ ...fault, severity: 'error', path: [], file })),
    );
  }
}
