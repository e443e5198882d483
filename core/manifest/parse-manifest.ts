import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Manifest } from '../contract/index.js';
import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  type DocumentSource,
  sortDiagnostics,
} from '../document/diagnostic.js';
import { copyPlainJson } from '../document/plain-json.js';
import { validateStruct } from '../document/validate.js';
import { validateAdmin } from './admin-rules.js';
import { findCapabilityWarnings, validateCapabilities } from './capability-rules.js';
import { validateConfig } from './config-rules.js';
import { manifestStruct } from './manifest-struct.js';
import { findRouteWarnings, validateRoutes } from './route-rules.js';

export interface ParsedManifest {
  /** A copy of the given manifest, without defaults. */
  readonly manifest: Manifest;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Validates a manifest from any source.
 * @throws InvalidFile with all errors of the manifest.
 */
export function parseManifest(value: unknown, source: DocumentSource): ParsedManifest {
  const copy = copyPlainJson(value);
  if (copy.violations.length > 0) throw createInvalidFile(copy.violations, source);
  const { violations, accepted } = validateStruct(copy.value, manifestStruct);
  const all = [...violations, ...validateRules((accepted ?? {}) as Partial<Manifest>)];
  if (all.length > 0) throw createInvalidFile(all, source);
  // The copy, not the result of superstruct, because the digest is that of the manifest as given.
  const manifest = copy.value as Manifest;
  const warnings = [...findRouteWarnings(manifest), ...findCapabilityWarnings(manifest)].map(
    (warning) => createDiagnostic(warning, source, 'warning'),
  );
  return { manifest, warnings: sortDiagnostics(warnings) };
}

/**
 * The rules that a struct cannot express, for what the struct accepts of a manifest. Rejected items of
 * its lists are holes, which `flatMap` and `map` do not visit.
 */
function validateRules(manifest: Partial<Manifest>) {
  return [
    ...validateRoutes(manifest),
    ...validateCapabilities(manifest),
    ...validateAdmin(manifest),
    ...validateConfig(manifest),
  ];
}

/** `sha256:` and the hex SHA-256 of the RFC 8785 form of a manifest as given, without defaults. */
export function manifestDigest(manifest: unknown): string {
  const canonical = canonicalize(manifest) ?? '';
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`;
}
