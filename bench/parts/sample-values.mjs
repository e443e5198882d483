// Values of the schemas of a document: its own examples, otherwise values that its rules suggest.
import { sample, stringMatching } from 'fast-check';

const MAX_DEPTH = 12;
/** Below this depth, only required members are made. */
const MAX_OPTIONAL_DEPTH = 4;

const FORMATS = {
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  time: '03:04:05Z',
  uuid: '018f0000-0000-7000-8000-000000000000',
  uri: 'https://a.example/b',
  url: 'https://a.example/b',
  email: 'ada@a.example',
  hostname: 'a.example',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  byte: 'YQ==',
};

/** Follows the references within a document. */
export function follow(root, value) {
  let current = value;
  for (let count = 0; count < 100; count += 1) {
    if (typeof current?.$ref !== 'string') return current;
    current = find(root, current.$ref);
  }
  return undefined;
}

function find(root, reference) {
  if (!reference.startsWith('#')) return undefined;
  return decode(reference.slice(1))
    .split('/')
    .slice(1)
    .reduce((value, key) => value?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], root);
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param direction `request` without read-only members, or `response` without write-only ones */
export function sampleValue(root, written, direction, depth = 0) {
  const schema = follow(root, written);
  if (typeof schema !== 'object' || schema === null || depth > MAX_DEPTH) return null;
  const [given] = [
    ...(schema.example === undefined ? [] : [schema.example]),
    ...(Array.isArray(schema.examples) ? schema.examples : []),
    ...(schema.default === undefined || schema.default === null ? [] : [schema.default]),
    ...(schema.const === undefined ? [] : [schema.const]),
    ...(Array.isArray(schema.enum) ? schema.enum : []),
  ];
  if (given !== undefined) return given;
  const samplePart = (part) => sampleValue(root, part, direction, depth + 1);
  const parts = [
    ...(schema.allOf ?? []).map(samplePart),
    ...['oneOf', 'anyOf'].flatMap((keyword) => {
      const branches = schema[keyword] ?? [];
      const branch = branches.find((one) => follow(root, one)?.type !== 'null');
      return branch === undefined ? [] : [nameBranch(samplePart(branch), branch, schema)];
    }),
  ];
  const own = sampleOwn(root, schema, direction, depth);
  return (
    [...parts, own].reduce((joined, part) => {
      if (isObject(joined) && isObject(part)) return { ...joined, ...part };
      return part === undefined ? joined : part;
    }, undefined) ?? (parts.length > 0 ? parts[0] : sampleAny(schema))
  );
}

/** Sets the member that names the branch, unless its sample does. */
function nameBranch(value, branch, { discriminator }) {
  const name = discriminator?.propertyName;
  if (!isObject(value) || typeof name !== 'string' || typeof branch.$ref !== 'string') return value;
  const mapping = Object.entries(discriminator.mapping ?? {});
  const names = mapping.filter(([, target]) => branch.$ref.endsWith(target)).map(([key]) => key);
  if (names.length === 0) names.push(branch.$ref.split('/').at(-1));
  return names.includes(value[name]) ? value : { ...value, [name]: names[0] };
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeOf({ type, properties, items }) {
  if (Array.isArray(type)) return type.find((name) => name !== 'null');
  if (type !== undefined) return type;
  if (properties !== undefined) return 'object';
  return items === undefined ? undefined : 'array';
}

function sampleAny({ additionalProperties }) {
  return additionalProperties === undefined ? 'any' : {};
}

function sampleOwn(root, schema, direction, depth) {
  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(root, schema, direction, depth);
    case 'array': {
      const item = sampleValue(root, schema.items ?? {}, direction, depth + 1);
      if (depth > MAX_OPTIONAL_DEPTH && !(schema.minItems > 0)) return [];
      return Array.from({ length: schema.minItems || 1 }, () => item);
    }
    case 'string':
      return sampleText(schema);
    case 'integer':
    case 'number':
      return sampleNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
  }
  return undefined;
}

function sampleObject(root, { properties = {}, required = [] }, direction, depth) {
  const hidden = direction === 'request' ? 'readOnly' : 'writeOnly';
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(properties).filter(([name, written]) => {
    const schema = follow(root, written);
    if (!isObject(schema) || schema[hidden] === true || written[hidden] === true) return false;
    if (needed.has(name)) return true;
    const isGiven = schema.example !== undefined || Array.isArray(schema.examples);
    return depth < MAX_OPTIONAL_DEPTH && (isGiven || depth === 0);
  });
  return Object.fromEntries(
    members.map(([name, schema]) => [name, sampleValue(root, schema, direction, depth + 1)]),
  );
}

function sampleText({ format, pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }) {
  const fits = (text) => text.length >= minLength && text.length <= maxLength;
  if (pattern === undefined) {
    const text = FORMATS[format] ?? 'text';
    return fits(text) ? text : 'a'.repeat(Math.max(minLength, Math.min(4, maxLength)));
  }
  return textsOf(pattern).find(fits) ?? 'text';
}

const TEXTS = new Map();

function textsOf(pattern) {
  if (!TEXTS.has(pattern)) {
    try {
      TEXTS.set(pattern, sample(stringMatching(new RegExp(pattern)), { seed: 1, numRuns: 50 }));
    } catch {
      TEXTS.set(pattern, []);
    }
  }
  return TEXTS.get(pattern);
}

function sampleNumber({ minimum, exclusiveMinimum, maximum, multipleOf }) {
  if (multipleOf !== undefined && minimum === undefined) return multipleOf;
  if (typeof exclusiveMinimum === 'number') return exclusiveMinimum + 1;
  if (exclusiveMinimum === true) return minimum + 1;
  return minimum ?? Math.min(1, maximum ?? 1);
}
