import type { ManifestRoute } from '../../contract/index.js';
import { isReading } from '../../manifest/read-rule.js';
import { UniqueNames } from '../../openapi/operation-names.js';
import type { DraftRoute } from './draft-manifest.js';

/** The longest capability has 128 characters. */
const MAX_MODULE_LENGTH = 63;
const MAX_TAG_LENGTH = 58;

/** Creates names as `<module>.<tag>.read` and `<module>.<tag>.write`, unique for each tag. */
export function createCapabilityNames(module: string): (tag: string, isRead: boolean) => string {
  const prefix = module.length <= MAX_MODULE_LENGTH ? module : module.replace(/^.*\//, '');
  const names = new UniqueNames();
  const byTag = new Map<string, string>();
  return (tag, isRead) => {
    const name = byTag.get(tag) ?? names.reserve(toWord(tag));
    byTag.set(tag, name);
    return `${prefix}.${name}.${isRead ? 'read' : 'write'}`;
  };
}

/** `Payment methods - store level` becomes `payment-methods-store-level`. */
function toWord(tag: string): string {
  const word = tag
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return word.slice(0, MAX_TAG_LENGTH) || 'other';
}

/** Names the capability after the first tag, or the first literal segment of the path. */
export function addCapability(
  route: DraftRoute,
  nameCapability: ReturnType<typeof createCapabilityNames>,
): DraftRoute {
  const literal = route.path.split('/').find((segment) => segment !== '' && !segment.includes('{'));
  const tag = route.tags?.[0] ?? literal ?? 'other';
  const { method, path, summary, ...rest } = route;
  return {
    method,
    path,
    capability: nameCapability(
      tag,
      isReading(route as Pick<ManifestRoute, 'method' | 'operation'>),
    ),
    ...(summary !== undefined && { summary }),
    ...rest,
  };
}
