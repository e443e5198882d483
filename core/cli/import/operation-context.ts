import type { OpenApiDocument } from './openapi-document.js';
import type { SharedDefinitions } from './shared-definitions.js';
import type { Report, UnmappedParts } from './unmapped.js';

export interface OperationContext {
  readonly document: OpenApiDocument;
  readonly unmapped: UnmappedParts;
  /** Lists a part of the operation. */
  readonly report: Report;
  readonly shared: SharedDefinitions;
}
