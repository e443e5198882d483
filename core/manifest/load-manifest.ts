import { parse, resolve } from 'node:path';
import {
  isProviderFailure,
  type Log,
  type Manifest,
  type ProviderAdapter,
} from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import {
  createFileDiagnostic,
  createInvalidFile,
  type DocumentSource,
  InvalidFile,
  type Locate,
  type Violation,
} from '../document/diagnostic.js';
import { readStructuredText } from '../document/parse-document.js';
import { FileError, readTextFile } from '../document/read-file.js';
import { describeFailure } from '../lib/failure-detail.js';
import { findInvalidJsonInSlices } from '../lib/json/json-check.js';
import { validateForAdapter } from './adapter-operations.js';
import { fetchManifestText, ManifestUnavailable } from './fetch-manifest.js';
import { parseManifest } from './parse-manifest.js';
import { createParsed, type ManifestText, type ParsedText } from './parse-text.js';
import { MAX_SHORT_TEXT, parseManifestText } from './parse-thread.js';
import { limitsOf } from './route-rules.js';

export { ManifestUnavailable } from './fetch-manifest.js';

export interface ManifestInput {
  readonly descriptor: Pick<Descriptor, 'module' | 'manifest' | 'manifest_digest'>;
  /** The file of the descriptor, and the positions of its parts. */
  readonly file: string;
  /** The text of the descriptor: an inline manifest in a long one is parsed in a thread. Default: none. */
  readonly text?: string;
  readonly locate: Locate;
  /** The folder of the descriptor. */
  readonly baseDir: string;
  /** `Provider.manifest`, for `{ from: provider }`. */
  readonly readFromProvider: (signal: AbortSignal) => Promise<Uint8Array>;
  readonly signal: AbortSignal;
  /** Default: no log. */
  readonly log?: Log | undefined;
  /** Whether an example that violates its schema is an error. Default false. */
  readonly checksExamples?: boolean;
  /** The adapter that reaches the provider. Default `null`: it is unknown. */
  readonly adapter?: ProviderAdapter | null;
  /** The kinds of providers whose adapters may have members in operations. Default: none. */
  readonly kinds?: readonly string[];
}

export interface LoadedManifest extends ParsedText {
  /** The files that were read, as absolute paths. */
  readonly files: readonly string[];
}

const INLINE = ['manifest', 'inline'] as const;
const NO_MANIFEST = 'the provider gave no manifest';

/** A manifest from outside the descriptor. */
interface Document extends Omit<ManifestText, 'checksExamples' | 'adapterLimits' | 'kinds'> {
  readonly files?: readonly string[];
}

/**
 * Loads the manifest from the source in the descriptor.
 * @throws InvalidFile if it is invalid, a missing file, or has another digest than the descriptor
 * requires.
 * @throws ManifestUnavailable if a URL or the provider does not return it now.
 */
export async function loadManifest(input: ManifestInput): Promise<LoadedManifest> {
  const loaded = await readManifest(input);
  assertPinned(loaded.digest, input);
  return loaded;
}

async function readManifest(input: ManifestInput): Promise<LoadedManifest> {
  const { kind } = input.descriptor.manifest;
  const { file, text = '', checksExamples = false, adapter = null, kinds = [], log = null } = input;
  const adapterLimits = adapter && limitsOf(adapter);
  const options = { checksExamples, adapterLimits, kinds };
  if (kind === 'inline' && text.length <= MAX_SHORT_TEXT) {
    return { ...parseInline(input.descriptor.manifest.value, input, options), files: [] };
  }
  const { files = [], ...document } =
    kind === 'inline'
      ? { file, text, format: null, hasPlaces: true, prefix: INLINE }
      : await readDocument(input);
  const parsed = await parseManifestText({ ...document, ...options }, log);
  assertFits(parsed.manifest, adapter, () => {
    const { format, hasPlaces, ...place } = document;
    // Only a thread knows the places, and it does not know the adapter.
    const { locate } = readStructuredText(place.file, place.text, format ?? undefined);
    return { ...place, locate: hasPlaces ? locate : () => null };
  });
  return { files, ...parsed };
}

/** @throws InvalidFile with each part that the adapter rejects. */
function assertFits(
  manifest: Manifest,
  adapter: ProviderAdapter | null,
  readSource: () => DocumentSource,
): void {
  const violations = adapter === null ? [] : validateForAdapter(manifest, adapter);
  if (violations.length > 0) throw createInvalidFile(violations, readSource());
}

function parseInline(
  value: unknown,
  { file, locate, adapter = null }: ManifestInput,
  options: Parameters<typeof parseManifest>[2],
): ParsedText {
  const source: DocumentSource = { file, locate, prefix: INLINE };
  const parsed = createParsed(parseManifest(value, source, options));
  assertFits(parsed.manifest, adapter, () => source);
  return parsed;
}

function readDocument(input: ManifestInput): Promise<Document> {
  const source = input.descriptor.manifest;
  if (source.kind === 'file') return readFile(source.path, input);
  return source.kind === 'url' ? readUrl(source.url, input.signal) : requestManifest(input);
}

async function readFile(written: string, input: ManifestInput): Promise<Document> {
  const path = resolve(input.baseDir, written);
  try {
    const text = await readTextFile(path);
    return { text, file: written, format: null, hasPlaces: true, files: [path] };
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
  return { text, file, format, hasPlaces: true };
}

async function requestManifest(input: ManifestInput): Promise<Document> {
  const file = `provider of ${input.descriptor.module}`;
  let bytes: unknown;
  try {
    bytes = await input.readFromProvider(input.signal);
  } catch (error) {
    throw explainMissingManifest(error, input.file);
  }
  if (!(bytes instanceof Uint8Array)) {
    const message = 'the adapter must return the manifest as bytes of JSON in UTF-8';
    throw new InvalidFile([createFileDiagnostic(file, 'no-json', message)]);
  }
  return { text: await decodeManifest(bytes, input.file), file, format: 'json', hasPlaces: true };
}

/** A provider that is starting may answer with something else for a while. */
async function decodeManifest(bytes: Uint8Array, descriptorFile: string): Promise<string> {
  const invalid = await findInvalidJsonInSlices([bytes]);
  if (invalid === null) return new TextDecoder().decode(bytes);
  const why = `${NO_MANIFEST}: what it sent is ${invalid.reason} at byte ${invalid.at}`;
  throw new ManifestUnavailable(why, { hint: hintAtFile(descriptorFile) });
}

/** A provider that responds without a manifest probably never has one. */
function explainMissingManifest(
  error: unknown,
  descriptorFile: string,
): ManifestUnavailable | InvalidFile {
  if (!isProviderFailure(error)) return new ManifestUnavailable(NO_MANIFEST, { cause: error });
  const why = `${NO_MANIFEST} (${error.failure}): ${describeFailure(error)}`;
  const hasResponded = error.status !== null;
  const hint = hintAtFile(descriptorFile);
  if (error.failure === 'protocol' && error.phase === 'preparing') {
    return new InvalidFile([{ ...createFileDiagnostic(descriptorFile, 'no-manifest', why), hint }]);
  }
  return new ManifestUnavailable(why, { cause: error, ...(hasResponded && { hint }) });
}

function hintAtFile(descriptorFile: string): string {
  return `write manifest: ./${parse(descriptorFile).name}/manifest.yaml to read it from a file`;
}

function assertPinned(digest: string, input: ManifestInput): void {
  const pin = input.descriptor.manifest_digest;
  if (pin === undefined || pin === digest) return;
  const violation: Violation = {
    rule: 'digest-mismatch',
    message: "'manifest_digest' must be the digest of the manifest",
    hint: `the manifest that was read has ${digest}`,
    path: ['manifest_digest'],
    at: 'value',
  };
  throw createInvalidFile([violation], input);
}

const STORED: DocumentSource = { file: 'last good manifest', locate: () => null };

/**
 * Asserts that a manifest which is loaded already fits the adapter.
 * @throws InvalidFile with each part that the adapter rejects.
 */
export function assertFitsAdapter(manifest: Manifest, adapter: ProviderAdapter): void {
  assertFits(manifest, adapter, () => STORED);
}

/**
 * Parses a stored manifest; returns `null` if it is invalid under the current rules, or has another
 * digest than the descriptor requires.
 */
export function parseStoredManifest(
  value: unknown,
  descriptor: Pick<Descriptor, 'manifest_digest'> | null,
  { kinds, adapter = null }: Pick<ManifestInput, 'adapter' | 'kinds'>,
): LoadedManifest | null {
  try {
    const parsed = createParsed(
      parseManifest(value, STORED, { ...(kinds !== undefined && { kinds }) }),
    );
    assertFits(parsed.manifest, adapter, () => STORED);
    const { digest } = parsed;
    const pin = descriptor?.manifest_digest;
    if (pin !== undefined && pin !== digest) return null;
    return { ...parsed, warnings: [], files: [] };
  } catch (error) {
    if (error instanceof InvalidFile) return null;
    throw error;
  }
}
