import canonicalize from 'canonicalize';
import type { Manifest } from '../contract/index.js';
import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  type DocumentSource,
  InvalidFile,
  MAX_DIAGNOSTICS,
  sortDiagnostics,
  type Violation,
} from '../document/diagnostic.js';
import { copyPlainJson } from '../document/plain-json.js';
import { validateStruct } from '../document/validate.js';
import { digestText } from '../lib/hash.js';
import { validateAdmin } from './admin-rules.js';
import { findCapabilityWarnings, validateCapabilities } from './capability-rules.js';
import { validateConfig } from './config-rules.js';
import { validateExamples } from './example-rules.js';
import { manifestStruct } from './manifest-struct.js';
import { findRouteWarnings, validateRoutes } from './route-rules.js';
import { findQueryWarnings, validateSchemas } from './schema-rules.js';

interface ParsedManifest {
  /** A copy of the given manifest, without defaults. */
  readonly manifest: Manifest;
  readonly warnings: readonly Diagnostic[];
}

interface ParseOptions {
  /** Whether an example that violates its schema is an error. Default false. */
  readonly checksExamples?: boolean;
}

/**
 * Validates a manifest from any source.
 * @throws InvalidFile with all errors of the manifest.
 */
export function parseManifest(
  value: unknown,
  source: DocumentSource,
  { checksExamples = false }: ParseOptions = {},
): ParsedManifest {
  const copy = copyPlainJson(value);
  if (copy.violations.length > 0) throw createInvalidFile(copy.violations, source);
  const { violations, accepted } = validateStruct(copy.value, manifestStruct);
  const acceptedParts = (accepted ?? {}) as Partial<Manifest>;
  const errors = [...violations, ...validateRules(acceptedParts)];
  if (errors.length > 0) throw createInvalidManifest(errors, acceptedParts, source);
  // The copy, not the result of superstruct, because the digest is that of the manifest as given.
  const manifest = copy.value as Manifest;
  const invalid = checksExamples ? validateExamples(manifest) : [];
  if (invalid.length > 0) throw createInvalidFile(invalid, source);
  const warnings = [
    ...findRouteWarnings(manifest),
    ...findQueryWarnings(manifest),
    ...findCapabilityWarnings(manifest),
  ].map((warning) => createDiagnostic(warning, source, 'warning'));
  return { manifest, warnings: sortDiagnostics(warnings) };
}

/** With the warnings that the errors cannot have caused. */
function createInvalidManifest(
  errors: readonly Violation[],
  accepted: Partial<Manifest>,
  source: DocumentSource,
): InvalidFile {
  const { diagnostics } = createInvalidFile(errors, source);
  const warnings = findRouteWarnings(accepted).map((one) =>
    createDiagnostic(one, source, 'warning'),
  );
  // Errors first, as only so many diagnostics are kept.
  const room = MAX_DIAGNOSTICS - diagnostics.length;
  return new InvalidFile(sortDiagnostics([...diagnostics, ...warnings.slice(0, room)]));
}

/**
 * The rules that a struct cannot express, for what the struct accepts of a manifest. Rejected items of
 * its lists are holes, which `flatMap` and `map` do not visit.
 */
function validateRules(manifest: Partial<Manifest>) {
  return [
    ...validateRoutes(manifest),
    ...validateSchemas(manifest),
    ...validateCapabilities(manifest),
    ...validateAdmin(manifest),
    ...validateConfig(manifest),
  ];
}

/** `sha256:` and the hex SHA-256 of the RFC 8785 form of a manifest as given, without defaults. */
export function manifestDigest(manifest: unknown): string {
  return digestText(canonicalize(manifest) ?? '');
}
