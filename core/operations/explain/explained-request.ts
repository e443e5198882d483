import type { Actor } from '../../contract/index.js';
import type { StructuredText } from '../../document/parse-document.js';
import { createToken } from '../../injection.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { ModuleRecord } from '../../modules/module-record.js';
import { type ModuleTarget, readBridgePermission } from '../request.js';
import type { EndpointEntry } from '../status/module-overview.js';
import type { TargetProblem } from './explanation.js';

export const MODULE_DOCUMENTS = createToken<ModuleDocuments>('module-documents');

export const HANDLED_BY_BRIDGE = 'the console bridge handles it, by its grants';

/** `/console-bridge/{permission}` never belongs to a module, for any method. */
export function isBridgePath(path: ExplainedPath): boolean {
  return path.kind === 'module' && readBridgePermission(path) !== null;
}

/** A parsed target. */
export type ExplainedPath =
  | ({ readonly kind: 'module' } & ModuleTarget)
  | {
      readonly kind: 'unmatched';
      /** `null` if the path has no valid name of a module. */
      readonly module: string | null;
      readonly problem: TargetProblem;
    }
  | { readonly kind: 'host' };

export interface ExplainedRequest {
  readonly method: string;
  readonly target: string;
  readonly path: ExplainedPath;
  /** `null` for credentials that are missing or not valid. */
  readonly actor: Actor | null;
}

/** The parts of a live module that a decision depends on. */
export type ExplainedModule = Pick<
  LiveModule,
  'name' | 'descriptor' | 'manifest' | 'manifestDigest' | 'configDigest' | 'routes'
>;

export interface ExplainedRecord
  extends Pick<ModuleRecord, 'file' | 'name' | 'state' | 'since' | 'reason' | 'hint'> {
  readonly live: ExplainedModule | null;
  readonly endpoints: readonly Pick<EndpointEntry, 'endpoint' | 'state' | 'routes'>[];
}

/** The current files of modules. */
export interface ModuleDocuments {
  /** @param file relative to the modules folder. `null` if it cannot be read. */
  read(file: string): Promise<Pick<StructuredText, 'value' | 'locate'> | null>;
}

/** Of several descriptors with one name, the live one. */
export function findRecord(
  records: readonly ExplainedRecord[],
  module: string,
): ExplainedRecord | null {
  const named = records.filter(({ name, live }) => (live?.name ?? name) === module);
  return named.find(({ live }) => live !== null) ?? named[0] ?? null;
}

export interface ExplainContext {
  readonly records: readonly ExplainedRecord[];
  readonly documents: ModuleDocuments;
}
