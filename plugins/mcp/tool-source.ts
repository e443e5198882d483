import type {
  AdminAction,
  AdminEntity,
  ExposedOperation,
  Manifest,
  ManifestRoute,
} from '../../core/contract/index.js';

export type ToolTarget =
  | { readonly kind: 'route'; readonly route: ManifestRoute }
  | { readonly kind: 'entity'; readonly entity: AdminEntity }
  | { readonly kind: 'action'; readonly action: AdminAction };

/** An operation that a module exposes. */
export interface ToolSource {
  readonly module: string;
  readonly operation: ExposedOperation;
  readonly target: ToolTarget;
  readonly manifest: Manifest;
}

/** What the manifest says of a target, for people. */
export function wordsOf(target: ToolTarget): {
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
} {
  if (target.kind === 'route') return target.route;
  const { label, description } = target.kind === 'entity' ? target.entity : target.action;
  return { summary: label, description };
}

/** The unchecked parameter of a query, which the manifest describes. */
export function findParameter({ operation }: ManifestRoute, name: string) {
  return operation?.parameters?.find((one) => one.in === 'query' && one.name === name);
}
