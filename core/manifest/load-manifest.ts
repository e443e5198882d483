import { parse, resolve } from 'node:path';
import { isProviderFailure, type Manifest } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import {
  createFileDiagnostic,
  createInvalidFile,
  type Diagnostic,
  type DocumentSource,
  InvalidFile,
  type Locate,
  type Violation,
} from '../document/diagnostic.js';
import { readStructuredText } from '../document/parse-document.js';
import { FileError, readTextFile } from '../document/read-file.js';
import { describeFailure } from '../lib/failure-detail.js';
import { fetchManifestText, ManifestUnavailable } from './fetch-manifest.js';
import { manifestDigest, parseManifest } from './parse-manifest.js';

export { ManifestUnavailable } from './fetch-manifest.js';

export interface ManifestInput {
  readonly descriptor: Pick<Descriptor, 'module' | 'manifest' | 'manifestDigest'>;
  /** The file of the descriptor, and the places of its parts. */
  readonly file: string;
  readonly locate: Locate;
  /** The folder of the descriptor. */
  readonly baseDir: string;
  /** `Provider.manifest`, for `{ from: provider }`. */
  readonly readFromProvider: (signal: AbortSignal) => Promise<unknown>;
  readonly signal: AbortSignal;
  /** Whether an example that violates its schema is an error. Default false. */
  readonly checksExamples?: boolean;
}

export interface LoadedManifest {
  readonly manifest: Manifest;
  readonly digest: string;
  readonly warnings: readonly Diagnostic[];
  /** The files that were read, as absolute paths. */
  readonly files: readonly string[];
}

interface Document extends DocumentSource {
  readonly value: unknown;
  readonly files?: readonly string[];
}

/**
 * Loads the manifest from the source in the descriptor.
 * @throws InvalidFile if it is invalid, a missing file, or has another digest than the descriptor requires.
 * @throws ManifestUnavailable if a URL or the provider does not return it now.
 */
export async function loadManifest(input: ManifestInput): Promise<LoadedManifest> {
  const { value, files = [], ...source } = await readDocument(input);
  const { manifest, warnings } = parseManifest(value, source, input);
  const digest = manifestDigest(manifest);
  assertPinned(digest, input);
  return { manifest, digest, warnings, files };
}

async function readDocument(input: ManifestInput): Promise<Document> {
  const source = input.descriptor.manifest;
  switch (source.kind) {
    case 'file':
      return readFile(source.path, input);
    case 'inline':
      return {
        value: source.value,
        file: input.file,
        locate: input.locate,
        prefix: ['manifest', 'inline'],
      };
    case 'url':
      return readUrl(source.url, input.signal);
    case 'provider':
      return requestManifest(input);
  }
}

async function readFile(written: string, input: ManifestInput): Promise<Document> {
  const path = resolve(input.baseDir, written);
  try {
    const text = await readTextFile(path);
    return { ...readStructuredText(written, text), file: written, files: [path] };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const hint = /^https?:/i.test(written) ? 'write { url: … } for a manifest behind a URL' : null;
    const message = `'manifest' names the file '${written}', which ${error.message}`;
    const path = ['manifest'];
    throw createInvalidFile([{ rule: error.code, message, hint, path, at: 'value' }], input);
  }
}

async function readUrl(url: string, signal: AbortSignal): Promise<Document> {
  const { text, format } = await fetchManifestText(url, signal);
  const { origin, pathname } = new URL(url);
  const file = `${origin}${pathname}`;
  return { ...readStructuredText(file, text, format), file };
}

async function requestManifest(input: ManifestInput): Promise<Document> {
  const file = `provider of ${input.descriptor.module}`;
  let value: unknown;
  try {
    value = await input.readFromProvider(input.signal);
  } catch (error) {
    throw explainMissingManifest(error, input.file);
  }
  return { value: toPlainValue(value, file), file, locate: () => null };
}

/** A provider that responds without a manifest probably never has one. */
function explainMissingManifest(error: unknown, descriptorFile: string): ManifestUnavailable {
  const message = 'the provider gave no manifest';
  if (!isProviderFailure(error)) return new ManifestUnavailable(message, { cause: error });
  const why = `${message} (${error.failure}): ${describeFailure(error)}`;
  const hint = `write manifest: ./${parse(descriptorFile).name}/manifest.yaml to read it from a file`;
  const hasResponded = error.status !== null;
  return new ManifestUnavailable(why, { cause: error, ...(hasResponded && { hint }) });
}

/** An adapter may return a value with cycles, getters, or a depth or size that no file can have. */
function toPlainValue(value: unknown, file: string): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) {
    const message = 'the manifest must be a value that JSON can hold';
    throw new InvalidFile([createFileDiagnostic(file, 'no-json', message)]);
  }
  return readStructuredText(file, text, 'json').value;
}

function assertPinned(digest: string, input: ManifestInput): void {
  const pin = input.descriptor.manifestDigest;
  if (pin === null || pin === digest) return;
  const violation: Violation = {
    rule: 'digest-mismatch',
    message: "'manifest_digest' must be the digest of the manifest",
    hint: `the manifest that was read has ${digest}`,
    path: ['manifest_digest'],
    at: 'value',
  };
  throw createInvalidFile([violation], input);
}

/**
 * A stored manifest; `null` if it is invalid, since the rules may have changed, or has another digest than
 * the descriptor requires.
 */
export function parseStoredManifest(
  value: unknown,
  descriptor: Pick<Descriptor, 'manifestDigest'> | null,
): LoadedManifest | null {
  try {
    const { manifest } = parseManifest(value, { file: 'last good manifest', locate: () => null });
    const digest = manifestDigest(manifest);
    const pin = descriptor?.manifestDigest ?? null;
    if (pin !== null && pin !== digest) return null;
    return { manifest, digest, warnings: [], files: [] };
  } catch (error) {
    if (error instanceof InvalidFile) return null;
    throw error;
  }
}
