import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { type Diagnostic, InvalidFile } from '../../document/diagnostic.js';
import { readStructuredText } from '../../document/parse-document.js';
import { ConfigError } from '../../errors.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';
import { manifestDigest, parseManifest } from '../../manifest/parse-manifest.js';
import type { DescriptorContext } from '../../modules/prepare-descriptor.js';
import { type DirectoryFile, readDirectoryFile } from '../../watch/directory.js';
import { type CheckedDescriptor, checkDescriptor, checkDescriptors } from './check-descriptors.js';
import type { CheckedFile, CheckNote, CheckReport } from './check-report.js';
import { describeFile } from './describe-file.js';

/**
 * Judges a folder of descriptors, one descriptor, or one manifest.
 * @throws ConfigError for a path that does not exist.
 */
export async function checkPath(path: string, context: DescriptorContext): Promise<CheckReport> {
  if (await isFolder(path)) return checkFolder(path, context);
  const folder = dirname(resolve(path));
  const entry = await readDirectoryFile(folder, basename(path));
  const manifest = readAsManifest(entry);
  if (manifest !== null) return reportManifest(manifest, folder);
  return reportDescriptors([await checkDescriptor(entry, context)], folder);
}

async function checkFolder(folder: string, context: DescriptorContext): Promise<CheckReport> {
  const { descriptors, ignored } = await checkDescriptors(folder, context);
  const shown = ignored.map(({ file, reason }) => ({ file: describeFile(folder, file), reason }));
  return { ...reportDescriptors(descriptors, folder), isFolder: true, ignored: shown };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new ConfigError(`${path} ${isMissing ? 'does not exist' : 'cannot be read'}`);
  }
}

function reportDescriptors(judged: readonly CheckedDescriptor[], folder: string): CheckReport {
  return {
    isFolder: false,
    files: judged.map(({ entry, module, prepared }): CheckedFile => {
      return { kind: 'descriptor', file: describeFile(folder, entry.file), module, prepared };
    }),
    findings: describeDiagnostics(
      judged.flatMap(({ findings }) => findings),
      folder,
    ),
    notes: judged.flatMap((one) => listNotes(one, folder)),
    ignored: [],
  };
}

/** A manifest that two descriptors name is judged with each of them, and told of once. */
function describeDiagnostics(findings: readonly Diagnostic[], folder: string): Diagnostic[] {
  const shown = findings.map((finding) => ({
    ...finding,
    file: describeFile(folder, finding.file),
  }));
  const byKey = new Map(shown.map((finding) => [JSON.stringify(finding), finding]));
  return [...byKey.values()];
}

const MANIFEST_NOTES: Readonly<Record<string, string>> = {
  provider: 'the manifest comes from the provider: it is not asked, so the manifest is not judged',
  url: 'the manifest comes from a URL: it is not fetched, so the manifest is not judged',
};

function listNotes({ entry, prepared }: CheckedDescriptor, folder: string): CheckNote[] {
  if (prepared === null) return [];
  const { enabled, manifest } = prepared.descriptor;
  const messages = [
    enabled ? undefined : 'enabled is false: the module answers 404',
    MANIFEST_NOTES[manifest.kind],
  ];
  const file = describeFile(folder, entry.file);
  return messages.flatMap((message) => (message === undefined ? [] : [{ file, message }]));
}

interface CheckedManifest {
  readonly file: string;
  readonly module: string | null;
  readonly manifest: LoadedManifest | null;
  readonly findings: readonly Diagnostic[];
}

/** `null` for what is no manifest, or cannot be read at all. */
function readAsManifest(entry: DirectoryFile): CheckedManifest | null {
  if (!('text' in entry)) return null;
  const document = readDocument(entry);
  if (document === null || !looksLikeManifest(document.value)) return null;
  const { file, path } = entry;
  try {
    const { manifest, warnings } = parseManifest(document.value, { file, locate: document.locate });
    const read = { manifest, digest: manifestDigest(manifest), warnings, files: [path] };
    return { file, module: manifest.module_id, manifest: read, findings: warnings };
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return { file, module: null, manifest: null, findings: error.diagnostics };
  }
}

function readDocument({ file, text }: { readonly file: string; readonly text: string }) {
  try {
    return readStructuredText(file, text);
  } catch (error) {
    if (error instanceof InvalidFile) return null;
    throw error;
  }
}

/** By the keys that only one of the two has: a manifest may lack `protocol` by mistake. */
function looksLikeManifest(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if ('protocol' in value) return true;
  return 'module_id' in value && !('module' in value) && !('provider' in value);
}

function reportManifest(judged: CheckedManifest, folder: string): CheckReport {
  const { file, module, manifest, findings } = judged;
  return {
    isFolder: false,
    files: [{ kind: 'manifest', file: describeFile(folder, file), module, manifest }],
    findings: describeDiagnostics(findings, folder),
    notes: [],
    ignored: [],
  };
}
