import { createHash } from 'node:crypto';
import type { Actor } from '../../contract/index.js';
import { nameActor } from '../../lib/actor-name.js';
import type { LiveModule } from '../../modules/live-module.js';

/** What a response may depend on. */
export interface KeyParts {
  readonly module: LiveModule;
  /** `GET /items/{id}` */
  readonly route: string;
  /** Raw path and query within the module. */
  readonly target: string;
  /** As the provider gets them; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** What chooses the endpoint; `null` for nothing of the request. */
  readonly hashKey: string | null;
  /** `null` where all callers share what is kept. */
  readonly actor: Actor | null;
  /** What the caller's credentials for the provider are made of; `null` where they are the host's. */
  readonly credentials: string | null;
}

/** They differ for each call, or name the actor, which is a part of its own. */
const UNKEYED: ReadonlySet<string> = new Set([
  'x-request-id',
  'x-correlation-id',
  'traceparent',
  'tracestate',
  'modgate-actor',
]);

let lastVersion = 0;
const versions = new WeakMap<LiveModule, number>();

/** Of a version of a module: what an earlier one has kept is not found any more. */
function versionOf(module: LiveModule): number {
  let version = versions.get(module);
  if (version === undefined) {
    lastVersion += 1;
    version = lastVersion;
    versions.set(module, version);
  }
  return version;
}

/** A digest, so that its length says nothing and no two sets of parts share one. */
export function createCacheKey(parts: KeyParts): string {
  const { module, route, target, headers, hashKey, actor, credentials } = parts;
  const keyed = Object.entries(headers).filter(([name]) => !UNKEYED.has(name));
  const text = JSON.stringify([
    module.name,
    versionOf(module),
    route,
    target,
    keyed.sort(([one], [other]) => (one < other ? -1 : 1)),
    hashKey,
    credentials,
    actor === null ? null : [nameActor(actor), [...actor.scopes].sort()],
  ]);
  return createHash('sha256').update(text).digest('base64');
}
