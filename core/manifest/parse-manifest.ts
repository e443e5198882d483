import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Manifest } from '../contract/index.js';
import {
  createFinding,
  createInvalidFile,
  type DocumentSource,
  type Fault,
  type Finding,
  sortFindings,
} from '../document/diagnostic.js';
import { copyPlainJson } from '../document/plain-json.js';
import { judgeByStruct } from '../document/validate.js';
import { judgeConfig } from './config-rules.js';
import {
  findCapabilityDoubts,
  judgeAdmin,
  judgeCapabilities,
  judgeRoutes,
} from './manifest-rules.js';
import { manifestStruct } from './manifest-struct.js';

export interface ParsedManifest {
  /** A copy of what was given, no defaults added. */
  readonly manifest: Manifest;
  readonly warnings: readonly Finding[];
}

/**
 * Judges a manifest, whoever handed it over.
 * @throws InvalidFile with all that is wrong with it.
 */
export function parseManifest(value: unknown, source: DocumentSource): ParsedManifest {
  const copy = copyPlainJson(value);
  refuseFaulty(copy.faults, source);
  refuseFaulty(judgeByStruct(copy.value, manifestStruct).faults, source);
  // The copy, not what superstruct made of it: the digest is that of the manifest as given.
  const manifest = copy.value as Manifest;
  refuseFaulty(
    [
      ...judgeRoutes(manifest),
      ...judgeCapabilities(manifest),
      ...judgeAdmin(manifest),
      ...judgeConfig(manifest),
    ],
    source,
  );
  const doubts = findCapabilityDoubts(manifest);
  const warnings = doubts.map((doubt) => createFinding(doubt, source, 'warning'));
  return { manifest, warnings: sortFindings(warnings) };
}

function refuseFaulty(faults: readonly Fault[], source: DocumentSource): void {
  if (faults.length > 0) throw createInvalidFile(faults, source);
}

/** `sha256:` and the hex SHA-256 of the RFC 8785 form of a manifest as it was given, no defaults added. */
export function manifestDigest(manifest: unknown): string {
  const canonical = canonicalize(manifest) ?? '';
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`;
}
