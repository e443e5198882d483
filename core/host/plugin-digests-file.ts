import { type Infer, record } from 'superstruct';
import { judgeByStruct } from '../lib/struct-faults.js';
import { matching } from '../lib/value-structs.js';
import { createFinding, InvalidFile, sortFindings } from './finding.js';
import { fileDigests } from './plugin-digests.js';
import type { PluginDigests } from './plugin-integrity.js';
import { readStructuredText } from './structured-file.js';

const DIGESTS_FILE = record(
  matching('a name of a-z, 0-9 and -', /^[a-z][a-z0-9-]*$/),
  fileDigests(),
);

/**
 * Parses `{<plugin>: {<path>: sha256:…}}`, JSON or YAML, as `modgate plugins digest` prints it.
 * @throws InvalidFile with the place of each fault.
 */
export function parsePluginDigests(file: string, text: string): PluginDigests {
  const { value, locate } = readStructuredText(file, text);
  const { faults, value: judged } = judgeByStruct(value, DIGESTS_FILE);
  if (faults.length === 0) return judged as Infer<typeof DIGESTS_FILE>;
  throw new InvalidFile(
    sortFindings(faults.map((fault) => createFinding(fault, { file, locate }))),
  );
}
