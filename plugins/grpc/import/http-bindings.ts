import { type DescMethod, fromBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { knownMessage } from '../known-types.js';

/** `google.api.http`, an extension of the options of methods. */
export const HTTP_EXTENSION = 72_295_728;
const VERBS = ['get', 'put', 'post', 'delete', 'patch'] as const;
const MAX_BINDINGS = 100;

/** A way in which a method is called over HTTP. */
export interface HttpBinding {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  /** The field that is the body; `*` for all, empty for none. */
  readonly body: string;
  readonly responseBody?: string;
}

/** Reads `google.api.http` of a method with its additional bindings; custom methods are left out. */
export function readHttpBindings({ proto }: DescMethod): HttpBinding[] {
  const bindings: HttpBinding[] = [];
  for (const { no, data } of proto.options?.$unknown ?? []) {
    if (no !== HTTP_EXTENSION) continue;
    try {
      const bytes = new BinaryReader(data).bytes();
      bindings.push(...readRule(fromBinary(knownMessage('google.api.HttpRule'), bytes)));
    } catch {
      // Not an HttpRule: the method has its own path.
    }
  }
  return bindings.slice(0, MAX_BINDINGS);
}

function readRule(rule: object): HttpBinding[] {
  const members = rule as Readonly<Record<string, unknown>>;
  const verb = VERBS.find((name) => typeof members[name] === 'string' && members[name] !== '');
  const more = (members['additionalBindings'] ?? []) as object[];
  const others = more.flatMap(readRule);
  if (verb === undefined) return others;
  const binding = {
    method: verb.toUpperCase(),
    path: String(members[verb]),
    body: String(members['body'] ?? ''),
    responseBody: String(members['responseBody'] ?? ''),
  };
  return [binding, ...others];
}
