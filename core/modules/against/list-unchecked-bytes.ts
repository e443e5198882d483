import type { ManifestRoute } from '../../contract/index.js';
import { ANONYMOUS } from '../../lib/actor-name.js';
import { parseRouteTemplate, templateShape } from '../../lib/routing/route-template.js';
import { forEachInSlices } from '../../lib/slices.js';
import { bodyRuleOf } from '../../manifest/body-rule.js';
import type { OpenedPart } from './opened-part.js';

const ALL_TYPES = ['*/*'];

/**
 * Lists the media types that pass as bytes, which no schema covers, by a key that a renamed
 * parameter keeps.
 */
export async function listUncheckedBytes(
  routes: readonly ManifestRoute[],
): Promise<ReadonlyMap<string, OpenedPart>> {
  const parts = new Map<string, OpenedPart>();
  await forEachInSlices(routes, (route) => {
    const types = listTypes(route);
    const permission = route.capability ?? (route.access === 'public' ? ANONYMOUS : null);
    if (types.length === 0 || permission === null) return;
    const shape = templateShape(parseRouteTemplate(route.path));
    for (const type of types) {
      const opens = `${type} in ${route.method} ${route.path}`;
      parts.set(`${permission} ${type} ${route.method} ${shape}`, { permission, opens });
    }
  });
  return parts;
}

/** `bodies of image/png`, `responses of text/csv` */
function listTypes(route: ManifestRoute): string[] {
  const { response, body_types, response_types } = route.operation ?? {};
  const bodies = body_types ?? (bodyRuleOf(route) === 'bytes' ? ALL_TYPES : []);
  const responses = response_types ?? (response === 'bytes' ? ALL_TYPES : []);
  return [
    ...bodies.map((type) => `bodies of ${type}`),
    ...responses.map((type) => `responses of ${type}`),
  ];
}
