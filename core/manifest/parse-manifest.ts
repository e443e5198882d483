import type { Manifest } from '../contract/index.js';
import type { Fault } from '../document/diagnostic.js';
import { copyPlainJson } from '../document/plain-json.js';
import { judgeByStruct } from '../document/validate.js';
import type { DocumentSource, Finding } from '../host/finding.js';
import { createFinding, createInvalidFile, sortFindings } from '../host/finding.js';
import { judgeAdmin } from '../host/manifest-admin-rules.js';
import { findCapabilityDoubts, judgeCapabilities } from '../host/manifest-capability-rules.js';
import { judgeConfig } from './config-rules.js';
import { judgeRoutes } from './manifest-rules.js';
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
