import type { Surface } from '../../contract/index.js';

export function assertSurface(opened: unknown): Surface {
  const { fetch } = (opened ?? {}) as Partial<Surface>;
  if (typeof fetch === 'function') return opened as Surface;
  throw new Error("'open' must return an object with a function 'fetch'");
}

export function cancelBody(response: unknown): void {
  // The surface has finished, so errors of its stream are ignored.
  if (response instanceof Response) void response.body?.cancel().catch(() => {});
}
