import type { JsonObject } from '../json-value.js';
import type { ImportedManifest } from './draft-manifest.js';
import type { UnmappedPart } from './unmapped.js';

/** What a source becomes, before it is compared with an earlier import. */
export interface Conversion {
  readonly manifest: ImportedManifest;
  /** The descriptor of a first import. */
  readonly descriptor: string;
  /** `provider.config` of that descriptor. */
  readonly config: JsonObject;
  /** The members of the config that a later import replaces. */
  readonly replaces: readonly string[];
  /** Further files in the folder of the module, by name. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly unmapped: readonly UnmappedPart[];
  readonly notes: readonly string[];
}
