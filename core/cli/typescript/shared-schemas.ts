import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import type { ClientFunction, ClientModel, ClientModule } from './client-model.js';
import { toTypeName } from './names.js';

/** A component of the document: `shop.getItem.output.Item`. */
const PART_OF_OPERATION = /\.(?:input|output|query)\.(.+?)(?:_\d+)?$/;
const TITLE = /^[A-Za-z][A-Za-z0-9 _-]{0,40}$/;

/**
 * Groups components of one module by structure: each operation has its own components, most of
 * which are equal. Groups are split until references of equal components lead to equal components.
 * @returns the first component of the group of each component
 */
export function groupComponents({ schemas, modules }: ClientModel): ReadonlyMap<string, string> {
  const keys = Object.keys(schemas);
  let groups = new Map(keys.map((key) => [key, findModule(key, modules)?.name ?? '']));
  for (let count = 0; ; ) {
    const first = new Map<string, string>();
    const next = new Map<string, string>();
    for (const key of keys) {
      const text = `${groups.get(key)} ${writeGroups(schemas[key], groups)}`;
      if (!first.has(text)) first.set(text, key);
      next.set(key, first.get(text) ?? key);
    }
    groups = next;
    if (first.size === count) return groups;
    count = first.size;
  }
}

function writeGroups(schema: unknown, groups: ReadonlyMap<string, string>): string {
  return JSON.stringify(schema, (name, value: unknown) => {
    if (name !== '$ref' || typeof value !== 'string') return value;
    return groups.get(value.replace('#/components/schemas/', '')) ?? value;
  });
}

/** The module whose operation a component belongs to. */
export function findModule(
  key: string,
  modules: readonly ClientModule[],
): ClientModule | undefined {
  const owners = modules.filter(({ name }) => key.startsWith(`${name.replaceAll('/', '.')}.`));
  return owners.sort((a, b) => b.name.length - a.name.length)[0];
}

/** Returns `ShopItem` after the title or the name in the manifest, or after the operation. */
export function nameComponent(key: string, schema: unknown, module?: ClientModule): string {
  const title = readTitle(schema) ?? PART_OF_OPERATION.exec(key)?.[1];
  if (title === undefined || module === undefined) return toTypeName(key);
  return toTypeName(module.member) + toTypeName(title);
}

function readTitle(schema: unknown): string | undefined {
  const title = asText(asObject(schema)['title']);
  return title !== undefined && TITLE.test(title) ? title : undefined;
}

/** Names the schemas of objects that a module repeats, by their text. */
export function nameRepeated(module: ClientModule): ReadonlyMap<string, string> {
  const places = new Map<string, string[]>();
  const visit = (schema: unknown, place: string): void => {
    if (!isObject(schema)) return;
    if (Object.keys(asObject(schema['properties'])).length > 1) {
      const text = JSON.stringify(schema);
      const title = readTitle(schema);
      const name = title === undefined ? place : toTypeName(module.member) + toTypeName(title);
      places.set(text, [...(places.get(text) ?? []), name]);
    }
    for (const [name, part] of listParts(schema)) visit(part, place + name);
  };
  for (const route of module.functions) visitRoute(route, visit);
  const repeated = [...places].filter(([, names]) => names.length > 1);
  return new Map(repeated.map(([text, [name = '']]) => [text, name]));
}

function visitRoute(
  { typeName, data, body }: ClientFunction,
  visit: (schema: unknown, place: string) => void,
): void {
  visit(data, `${typeName}Result`);
  visit(body?.schema, `${typeName}Body`);
}

/** The parts of a schema that are types, with the suffixes for their names. */
function listParts(schema: JsonObject): [string, unknown][] {
  const properties = Object.entries(asObject(schema['properties']));
  const alternatives = ['allOf', 'anyOf', 'oneOf', 'prefixItems'].flatMap((keyword) => {
    return asList(schema[keyword]);
  });
  return [
    ...properties.map(([name, part]): [string, unknown] => [toTypeName(name), part]),
    ['Item', schema['items']],
    ['Value', schema['additionalProperties']],
    ...alternatives.map((part): [string, unknown] => ['Part', part]),
  ];
}
