import type { Actor } from '../../contract/index.js';
import type { StructuredText } from '../../document/parse-document.js';
import { createToken } from '../../injection.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import type { ForwardTarget } from '../forward/forward.js';
import type { EndpointEntry } from '../status/module-list.js';
import type { TargetProblem } from './explanation.js';

export const MODULE_DOCUMENTS = createToken<ModuleDocuments>('module-documents');

/** What is to be said of such a path. */
export const BRIDGE_ANSWERS = 'the console bridge answers it, by its grants';

/** Contract 4: `/console-bridge/{permission}` is never a module's, by whatever method. */
export function isBridgePath(path: ExplainedPath): boolean {
  if (path.kind !== 'module') return false;
  return path.segments.length === 2 && path.segments[0] === 'console-bridge';
}

/** A target as it was judged. */
export type ExplainedPath =
  | ({ readonly kind: 'module' } & ForwardTarget)
  | { readonly kind: 'unmatched'; readonly fault: TargetProblem }
  | { readonly kind: 'host' };

export interface ExplainedRequest {
  readonly method: string;
  readonly target: string;
  readonly path: ExplainedPath;
  /** `null` for credentials that are missing, or that nobody knows. */
  readonly actor: Actor | null;
}

/** What of a live module decides about a request. */
export type ExplainedModule = Pick<
  LiveModule,
  'name' | 'descriptor' | 'manifest' | 'manifestDigest' | 'configDigest' | 'routes'
>;

export interface ExplainedRecord
  extends Pick<ModuleRecord, 'file' | 'name' | 'state' | 'since' | 'reason' | 'hint'> {
  readonly live: ExplainedModule | null;
  readonly endpoints: readonly Pick<EndpointEntry, 'endpoint' | 'state' | 'routes'>[];
}

/** The files of modules as they are now. */
export interface ModuleDocuments {
  /** By its path from the folder of descriptors; `null` when it cannot be read. */
  read(file: string): Promise<Pick<StructuredText, 'value' | 'locate'> | null>;
}

/** What is served, and from what. */
export interface ExplainContext {
  readonly records: readonly ExplainedRecord[];
  readonly documents: ModuleDocuments;
}
