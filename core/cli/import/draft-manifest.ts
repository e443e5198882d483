import type { RouteExample, RouteParameter, StreamForm } from '../../contract/index.js';
import type { JsonObject } from '../json-value.js';

/** A manifest under construction; parts that the host's rules reject are removed from it later. */
export interface DraftManifest {
  readonly protocol: 'modgate.manifest.v1';
  readonly module_id: string;
  readonly version?: string;
  readonly summary?: string;
  capabilities: string[];
  http_routes: DraftRoute[];
  schemas: SharedDraft;
}

/** Without shared schemas, the member is absent. */
export type ImportedManifest = Omit<DraftManifest, 'schemas'> & { readonly schemas?: SharedDraft };

export type SharedDraft = Record<string, JsonObject | boolean>;

/** Distinguishes operations whose paths differ only in the query. Manifests do not contain it. */
export const OPERATION_PLACE = Symbol('the place of the operation in its document');

export interface DraftRoute {
  /** The operation as the document writes it, for lists of unmapped parts: `GET /pets?a=1`. */
  readonly [OPERATION_PLACE]: string;
  method: string;
  path: string;
  summary?: string;
  description?: string;
  tags?: readonly string[];
  deprecated?: true;
  capability?: string;
  operation?: DraftOperation;
}

export interface DraftOperation {
  operation_id?: string;
  idempotency?: 'requires_key';
  body?: 'required' | 'optional' | 'none' | 'bytes';
  body_types?: string[];
  response?: 'bytes';
  response_types?: string[];
  stream?: StreamForm;
  stream_types?: string[];
  stream_optional?: true;
  encoded?: string[];
  query_schema?: JsonObject;
  path_params_schema?: JsonObject;
  parameters?: RouteParameter[];
  input_schema?: JsonObject;
  output_schema?: JsonObject;
  examples?: RouteExample[];
}

/** The capabilities of the routes, without duplicates, in the order of the routes. */
export function listCapabilities({ http_routes }: Pick<DraftManifest, 'http_routes'>): string[] {
  return [...new Set(http_routes.flatMap(({ capability }) => capability ?? []))].sort();
}
