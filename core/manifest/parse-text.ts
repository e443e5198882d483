import type { Manifest } from '../contract/index.js';
import type { Diagnostic } from '../document/diagnostic.js';
import { readStructuredText, type TextFormat } from '../document/parse-document.js';
import { readMember } from '../lib/read-member.js';
import { manifestDigest, parseManifest } from './parse-manifest.js';
import type { AdapterLimits } from './route-rules.js';

/** The text of a manifest; plain data, so that a thread can parse it. */
export interface ManifestText {
  readonly file: string;
  readonly text: string;
  /** `null` to detect the format by the file name. */
  readonly format: TextFormat | null;
  /** Whether diagnostics have positions in the text. */
  readonly hasPlaces: boolean;
  /** The path of the manifest in the text. Default: the text is the manifest. */
  readonly prefix?: readonly string[];
  readonly checksExamples: boolean;
  readonly adapterLimits: AdapterLimits | null;
  /** The kinds of providers whose adapters may have members in operations. */
  readonly kinds: readonly string[];
}

export interface ParsedText {
  readonly manifest: Manifest;
  readonly digest: string;
  /** As written, if that differs: with schemas of older drafts. */
  readonly written?: unknown;
  readonly warnings: readonly Diagnostic[];
}

/** @throws InvalidFile with all errors of the text or the manifest. */
export function parseText(source: ManifestText): ParsedText {
  const {
    file,
    text,
    format,
    hasPlaces,
    prefix = [],
    checksExamples,
    adapterLimits,
    kinds,
  } = source;
  const { value, locate } = readStructuredText(file, text, format ?? undefined);
  const place = { file, locate: hasPlaces ? locate : () => null, prefix };
  const given = prefix.reduce(readMember, value);
  return createParsed(
    parseManifest(given, place, {
      checksExamples,
      adapterLimits,
      kinds,
    }),
  );
}

/** The digest covers the manifest as written. */
export function createParsed({
  manifest,
  written,
  warnings,
}: ReturnType<typeof parseManifest>): ParsedText {
  const digest = manifestDigest(written);
  return { manifest, digest, warnings, ...(written !== manifest && { written }) };
}
