import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Manifest } from '../../contract/index.js';
import { listLearnedScopes } from '../../descriptor/sections/identity.js';
import {
  createInvalidFile,
  type Diagnostic,
  type DocumentSource,
  InvalidFile,
} from '../../document/diagnostic.js';
import { readStructuredText } from '../../document/parse-document.js';
import { describeUnreadable } from '../../document/read-file.js';
import { ConfigError } from '../../errors.js';
import { isMapping } from '../../lib/read-member.js';
import { toError } from '../../lib/to-error.js';
import { listOperationKinds, validateForAdapter } from '../../manifest/adapter-operations.js';
import { listPublicRoutes } from '../../manifest/list-public-routes.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';
import { findUnsupported, manifestDigest, parseManifest } from '../../manifest/parse-manifest.js';
import { limitsOf } from '../../manifest/route-rules.js';
import { violationAt } from '../../manifest/violation-at.js';
import type { DescriptorContext, PreparedDescriptor } from '../../modules/prepare-descriptor.js';
import type { AdapterSource } from '../../plugin-loader/adapter-source.js';
import { type DirectoryFile, omitUsedFiles, readDirectoryFile } from '../../watch/directory.js';
import { type CheckedDescriptor, checkDescriptor, checkDescriptors } from './check-descriptors.js';
import type { CheckedFile, CheckNote, CheckReport } from './check-report.js';
import { describeFile } from './describe-file.js';

interface CheckContext extends DescriptorContext {
  /** Authenticators of plugins. Only an opened authenticator names the headers that it reads. */
  readonly unopenedAuthenticators: readonly string[];
}

/**
 * Validates a folder of descriptors, one descriptor, or one manifest.
 * @throws ConfigError for a path that does not exist.
 */
export async function checkFiles(path: string, context: CheckContext): Promise<CheckReport> {
  if (await isFolder(path)) return checkFolder(path, context);
  const folder = dirname(resolve(path));
  const entry = await readDirectoryFile(folder, basename(path));
  return (
    (await checkManifest(entry, folder, context)) ??
    reportDescriptors([await checkDescriptor(entry, context)], folder, context)
  );
}

async function checkFolder(folder: string, context: CheckContext): Promise<CheckReport> {
  const { descriptors, ignored } = await checkDescriptors(folder, context);
  const used = descriptors.flatMap(({ files }) => files);
  const unused = omitUsedFiles(ignored, folder, used);
  return {
    ...reportDescriptors(descriptors, folder, context),
    isFolder: true,
    ignored: unused.map(({ file, reason }) => ({ file: describeFile(folder, file), reason })),
  };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    throw new ConfigError(`${path} ${isMissing ? 'does not exist' : describeUnreadable(error)}`);
  }
}

function reportDescriptors(
  checked: readonly CheckedDescriptor[],
  folder: string,
  { unopenedAuthenticators }: CheckContext,
): CheckReport {
  return {
    isFolder: false,
    files: checked.map(({ entry, module, prepared }): CheckedFile => {
      return { kind: 'descriptor', file: describeFile(folder, entry.file), module, prepared };
    }),
    diagnostics: describeDiagnostics(
      checked.flatMap(({ diagnostics }) => diagnostics),
      folder,
    ),
    notes: checked.flatMap((descriptor) => listNotes(descriptor, folder, unopenedAuthenticators)),
    ignored: [],
  };
}

/** Reports each manifest once, although it is validated with every descriptor that refers to it. */
function describeDiagnostics(diagnostics: readonly Diagnostic[], folder: string): Diagnostic[] {
  const described = diagnostics.map((diagnostic) => ({
    ...diagnostic,
    file: describeFile(folder, diagnostic.file),
  }));
  const byKey = new Map(described.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]));
  return [...byKey.values()];
}

const MANIFEST_NOTES: Readonly<Record<string, string>> = {
  provider: 'the manifest comes from the provider and was not checked',
  url: 'the manifest comes from a URL and was not checked',
};

/** They are not opened, because that may require secrets and other hosts. */
function describeUnopened(names: readonly string[]): string {
  const list = names.map((name) => `'${name}'`).join(', ');
  return `a host also rejects a name in 'forward_headers' that ${list} reads; a check does not open authenticators of plugins`;
}

function listNotes(
  { entry, prepared }: CheckedDescriptor,
  folder: string,
  unopenedAuthenticators: readonly string[],
): CheckNote[] {
  if (prepared === null) return [];
  const { enabled, manifest, forward_headers } = prepared.descriptor;
  const isUncertain = forward_headers.length > 0 && unopenedAuthenticators.length > 0;
  const messages = [
    enabled ? undefined : 'enabled is false: the module answers 404',
    MANIFEST_NOTES[manifest.kind],
    isUncertain ? describeUnopened(unopenedAuthenticators) : undefined,
    describeLearned(prepared),
    ...listPublicRoutes(prepared.descriptor, prepared.manifest?.manifest ?? null).map(
      (route) => `anybody may call ${route} without credentials`,
    ),
    ...prepared.missingSecrets.map(({ diagnostic }) => diagnostic.message),
  ];
  const file = describeFile(folder, entry.file);
  return messages.flatMap((message) => (message === undefined ? [] : [{ file, message }]));
}

function describeLearned({ descriptor, manifest }: PreparedDescriptor): string | undefined {
  const learned = listLearnedScopes(descriptor.identity, manifest?.manifest.capabilities ?? []);
  if (learned.length === 0) return undefined;
  return `the provider learns by modgate-identity which of these scopes a caller has: ${learned.join(', ')}`;
}

/** Returns `null` for a file that is not a manifest, or cannot be read. */
async function checkManifest(
  entry: DirectoryFile,
  folder: string,
  { plugins }: CheckContext,
): Promise<CheckReport | null> {
  if (!('text' in entry)) return null;
  const document = readDocument(entry);
  if (document === null || !looksLikeManifest(document.value)) return null;
  const { file, path } = entry;
  try {
    const source = { file, locate: document.locate };
    const options = { checksExamples: true, kinds: plugins.kinds() };
    const { manifest, written, warnings } = parseManifest(document.value, source, options);
    await checkOperations(manifest, source, plugins);
    const read = { manifest, digest: manifestDigest(written), warnings, files: [path] };
    return report(manifest.module_id, read, warnings);
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return report(null, null, error.diagnostics);
  }

  function report(
    module: string | null,
    manifest: LoadedManifest | null,
    diagnostics: readonly Diagnostic[],
  ): CheckReport {
    return {
      isFolder: false,
      files: [{ kind: 'manifest', file: describeFile(folder, file), module, manifest }],
      diagnostics: describeDiagnostics(diagnostics, folder),
      notes: [],
      ignored: [],
    };
  }
}

/**
 * Without a descriptor, the operations of a manifest show the kind of its provider.
 * @throws InvalidFile with all errors.
 */
async function checkOperations(
  manifest: Manifest,
  source: DocumentSource,
  plugins: AdapterSource,
): Promise<void> {
  const [kind] = listOperationKinds(manifest);
  if (kind === undefined) return;
  const adapter = await plugins.adapter(kind).catch((error: unknown) => {
    const index = manifest.http_routes.findIndex((route) =>
      Object.hasOwn(route.operation ?? {}, kind),
    );
    const path = ['http_routes', index, 'operation', kind];
    const rest = `cannot be checked: ${toError(error).message}`;
    throw createInvalidFile([violationAt(path, 'plugin-failed', rest)], source);
  });
  const violations = [
    ...findUnsupported(manifest, limitsOf(adapter)),
    ...validateForAdapter(manifest, adapter),
  ];
  if (violations.length > 0) throw createInvalidFile(violations, source);
}

function readDocument({ file, text }: { readonly file: string; readonly text: string }) {
  try {
    return readStructuredText(file, text);
  } catch (error) {
    if (error instanceof InvalidFile) return null;
    throw error;
  }
}

/** Detects a manifest by its own keys, because `protocol` may be missing by mistake. */
function looksLikeManifest(value: unknown): boolean {
  if (!isMapping(value)) return false;
  if ('protocol' in value) return true;
  return 'module_id' in value && !('module' in value) && !('provider' in value);
}
