import type { CheckedDescriptor, Manifest, ModuleProblem } from '../../core/contract/index.js';

/** Problems of a descriptor whose callers want the provider's own statuses, which the kind does not have. */
export function findRawMode({ responses }: CheckedDescriptor, kind: string): ModuleProblem[] {
  if (responses.mode !== 'raw') return [];
  const message = `must not be raw: kind ${kind} has no responses of HTTP`;
  return [{ path: ['responses', 'mode'], message, hint: 'remove it' }];
}

/** Problems of a descriptor that forwards headers which belong to the protocol of the kind. */
export function findProtocolHeaders(
  { forward_headers }: CheckedDescriptor,
  kind: string,
  reserved: RegExp,
): ModuleProblem[] {
  return forward_headers.flatMap((name, index): ModuleProblem[] => {
    if (!reserved.test(name)) return [];
    const message = `is a header that kind ${kind} sets itself`;
    return [{ path: ['forward_headers', index], message, hint: 'remove it' }];
  });
}

/** Problems of a manifest with more than routes, for a kind that carries no other operations. */
export function findMoreThanRoutes({ admin, config }: Manifest, kind: string): ModuleProblem[] {
  const parts = [
    [['admin', 'entities'], admin?.entities],
    [['admin', 'actions'], admin?.actions],
    [['config', 'fields'], config?.fields],
  ] as const;
  return parts.flatMap(([path, items = []]): ModuleProblem[] => {
    if (items.length === 0) return [];
    return [
      { path, message: `must be absent: kind ${kind} carries routes only`, hint: 'remove it' },
    ];
  });
}
