import { isDeepStrictEqual } from 'node:util';
import type { RouteOperation, RouteParameter } from '../../contract/index.js';
import type { SharedSchemas } from '../../schema/shared-schemas.js';
import type { SchemaDifference, SchemaEffect } from './compare-pair.js';
import type { SchemaPair, SchemaPairs } from './schema-pairs.js';

const KEYS = {
  input: 'input_schema',
  path: 'path_params_schema',
  query: 'query_schema',
  output: 'output_schema',
} as const;

/**
 * A request fails if fewer values are accepted; a reader of responses fails if they have more
 * kinds, or lack a member.
 */
const BREAKING: Readonly<Record<'request' | 'response', readonly SchemaEffect[]>> = {
  request: ['narrower', 'other'],
  response: ['wider', 'other', 'removed'],
};

const MAX_DIFFERENCES = 20;

/** A change of a schema that callers notice. */
export interface SchemaChange {
  readonly schema: keyof typeof KEYS | 'parameters';
  /** `/amount`; empty for the value as a whole. */
  readonly place: string;
  readonly change: string;
  /** Whether a working caller may fail. */
  readonly breaks: boolean;
}

/** A route, with the shared schemas of its manifest. */
interface DescribedOperation {
  readonly operation: RouteOperation | undefined;
  readonly shared: SharedSchemas;
}

/**
 * @param pairs the compared pairs of the module
 * @throws TooManyPairs
 */
export async function listSchemaChanges(
  before: DescribedOperation,
  after: DescribedOperation,
  pairs: SchemaPairs,
): Promise<SchemaChange[]> {
  const changes: SchemaChange[] = [];
  for (const schema of ['input', 'path', 'query', 'output'] as const) {
    const [old, now] = [readSchema(before, schema), readSchema(after, schema)];
    const differences = listDifferences(await pairs.compare(old, now));
    const breaking = BREAKING[schema === 'output' ? 'response' : 'request'];
    for (const { place, effect, text } of keepWorst(differences, breaking)) {
      changes.push({ schema, place, change: text, breaks: breaking.includes(effect) });
    }
  }
  return [...changes, ...listParameterChanges(before.operation, after.operation)];
}

/** Only a parameter that providers newly need may break a caller: the host checks none of them. */
function listParameterChanges(
  before: RouteOperation | undefined,
  after: RouteOperation | undefined,
): SchemaChange[] {
  const [old, now] = [before, after].map((operation) => {
    return new Map((operation?.parameters ?? []).map((one) => [`/${one.in}/${one.name}`, one]));
  }) as [Map<string, RouteParameter>, Map<string, RouteParameter>];
  const places = [...new Set([...old.keys(), ...now.keys()])];
  const changed = places.filter((place) => {
    return !isDeepStrictEqual(old.get(place), now.get(place));
  });
  return changed.slice(0, MAX_DIFFERENCES).map((place) => {
    const [was, is] = [old.get(place), now.get(place)];
    const change = was === undefined ? 'is new' : is === undefined ? 'is removed' : 'has changed';
    const breaks = is?.required === true && was?.required !== true;
    return { schema: 'parameters', place, change, breaks };
  });
}

/** An absent schema accepts everything. */
function readSchema({ operation, shared }: DescribedOperation, key: keyof typeof KEYS) {
  const schema = operation?.[KEYS[key]];
  return { schema: schema ?? true, scope: { root: schema, shared } };
}

/** Lists each pair that differs at the first place that leads to it. */
function listDifferences(root: SchemaPair): readonly SchemaDifference[] {
  const differences: SchemaDifference[] = [];
  const seen = new Set<SchemaPair>();
  const pending = [{ pair: root, place: '' }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { pair, place } = next;
    if (!pair.differs || seen.has(pair)) continue;
    seen.add(pair);
    for (const own of pair.own) differences.push({ ...own, place: place + own.place });
    const keywords = pair.parts.flatMap(({ pair: part, keyword }) =>
      part.differs && keyword !== null ? [keyword] : [],
    );
    for (const keyword of new Set(keywords)) {
      differences.push({ place, effect: 'other', text: `${keyword} has changed` });
    }
    if (differences.length >= MAX_DIFFERENCES) break;
    const parts = pair.parts.filter(({ keyword }) => keyword === null);
    for (const part of parts.toReversed()) {
      pending.push({ pair: part.pair, place: place + part.place });
    }
  }
  return differences.slice(0, MAX_DIFFERENCES);
}

/** Keeps the effect that breaks callers if a removed property has two. */
function keepWorst(
  differences: readonly SchemaDifference[],
  breaking: readonly SchemaEffect[],
): SchemaDifference[] {
  return differences.filter((difference) => {
    if (breaking.includes(difference.effect)) return true;
    const others = differences.filter(
      (other) => other !== difference && other.place === difference.place,
    );
    return !others.some(({ effect }) => breaking.includes(effect));
  });
}
