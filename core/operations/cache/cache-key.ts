import { createHash, hash } from 'node:crypto';
import type { Actor } from '../../contract/index.js';
import { nameActor } from '../../lib/actor-name.js';
import type { LiveModule, LiveRoute } from '../../modules/live-module.js';

/** The parts on which a response may depend. */
export interface CacheKeyParts {
  readonly module: LiveModule;
  readonly route: LiveRoute;
  /** Raw path and query within the module. */
  readonly target: string;
  /** The headers for the provider; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The value that selects the endpoint; `null` if it does not depend on the request. */
  readonly hashKey: string | null;
  /** `null` if all callers share the cache. */
  readonly actor: Actor | null;
  /** The source of the caller's credentials for the provider; `null` if they are the host's. */
  readonly credentials: string | null;
}

/** Headers that differ for each call, or name the actor, which is a separate part. */
const UNKEYED: ReadonlySet<string> = new Set([
  'x-request-id',
  'x-correlation-id',
  'traceparent',
  'tracestate',
  'modgate-actor',
]);

const declarations = new WeakMap<LiveRoute, string>();

/** What a route declares: responses of another declaration, with other rules, are not found. */
function declarationOf(route: LiveRoute): string {
  const known = declarations.get(route);
  if (known !== undefined) return known;
  const declaration = hash('sha256', JSON.stringify(route.declared), 'base64');
  declarations.set(route, declaration);
  return declaration;
}

/** Returns a digest, which hides the length of the parts and is unique for each set of parts. */
export function createCacheKey(parts: CacheKeyParts): string {
  const { module, route, target, headers, hashKey, actor, credentials } = parts;
  const keyed = Object.entries(headers).filter(([name]) => !UNKEYED.has(name));
  const text = JSON.stringify([
    module.name,
    module.content,
    declarationOf(route),
    target,
    keyed.sort(([name], [other]) => (name < other ? -1 : 1)),
    hashKey,
    credentials,
    actor === null ? null : [nameActor(actor), [...actor.scopes].sort()],
  ]);
  return createHash('sha256').update(text).digest('base64');
}
