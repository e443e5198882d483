import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Manifest } from '../contract/index.js';
import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  type DocumentSource,
  sortDiagnostics,
  type Violation,
} from '../document/diagnostic.js';
import { copyPlainJson } from '../document/plain-json.js';
import { validateStruct } from '../document/validate.js';
import { validateConfig } from './config-rules.js';
import {
  findCapabilityWarnings,
  validateAdmin,
  validateCapabilities,
  validateRoutes,
} from './manifest-rules.js';
import { manifestStruct } from './manifest-struct.js';

export interface ParsedManifest {
  /** A copy of what was given, no defaults added. */
  readonly manifest: Manifest;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Judges a manifest, whoever handed it over.
 * @throws InvalidFile with all that is wrong with it.
 */
export function parseManifest(value: unknown, source: DocumentSource): ParsedManifest {
  const copy = copyPlainJson(value);
  assertValidManifest(copy.faults, source);
  assertValidManifest(validateStruct(copy.value, manifestStruct).faults, source);
  // The copy, not what superstruct made of it: the digest is that of the manifest as given.
  const manifest = copy.value as Manifest;
  assertValidManifest(
    [
      ...validateRoutes(manifest),
      ...validateCapabilities(manifest),
      ...validateAdmin(manifest),
      ...validateConfig(manifest),
    ],
    source,
  );
  const doubts = findCapabilityWarnings(manifest);
  const warnings = doubts.map((doubt) => createDiagnostic(doubt, source, 'warning'));
  return { manifest, warnings: sortDiagnostics(warnings) };
}

function assertValidManifest(faults: readonly Violation[], source: DocumentSource): void {
  if (faults.length > 0) throw createInvalidFile(faults, source);
}

/** `sha256:` and the hex SHA-256 of the RFC 8785 form of a manifest as it was given, no defaults added. */
export function manifestDigest(manifest: unknown): string {
  const canonical = canonicalize(manifest) ?? '';
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`;
}
