import { type Answer, call, session } from './api.js';
import type { ModuleStatus } from './types.js';

/** Calls an operation of the console bridge for a module, with the digests that its descriptor grants. */
export async function callBridge<T>(
  module: ModuleStatus,
  permission: string,
  payload: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<Answer<T>> {
  const name = encodeURIComponent(module.name ?? '');
  const path = `/modules/${name}/http/console-bridge/${encodeURIComponent(permission)}`;
  const body = {
    moduleReleaseDigest: module.console?.release ?? '',
    uiArtifactDigest: session.value?.ui_digest ?? '',
    permission,
    payload,
  };
  const answer = await call<{ data: T }>('POST', path, { body, ...(signal && { signal }) });
  return answer.ok ? { ...answer, data: answer.data.data } : answer;
}

/**
 * The reason why the console may not use a permission of a module; `null` if it may. The host also
 * checks it.
 */
export function explainDenied(module: ModuleStatus, permission: string): string | null {
  const { actor, ui_digest: digest } = session.value ?? {};
  const isHeld =
    actor?.kind === 'system' ||
    actor?.scopes.includes(permission) ||
    (actor?.kind === 'user' && actor.scopes.includes('console.admin'));
  if (!isHeld) return `needs the scope ${permission}`;
  if (module.state === 'disabled') return 'the module is disabled';
  const granted = module.console;
  if (!granted?.release) return 'the module does not serve';
  if (!granted.grants.includes(permission)) return `the descriptor does not grant ${permission}`;
  const isGranted = granted.ui.includes('builtin') || granted.ui.includes(digest ?? '');
  return isGranted ? null : 'the descriptor does not grant this console: add ui: [builtin]';
}
