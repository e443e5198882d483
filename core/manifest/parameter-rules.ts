import { canonicalizeValue } from '../contract/canonical-value.js';
import type { JsonSchema, ManifestRoute, RouteParameter } from '../contract/index.js';
import { explainDeniedHeader } from '../descriptor/sections/forward-headers.js';
import type { Path, Violation } from '../document/diagnostic.js';
import {
  BYTE_BODY_HEADERS,
  BYTE_REQUEST_HEADERS,
  HEADER_NAME,
  REQUEST_IDS,
  TRACE_CONTEXT,
} from '../lib/header-names.js';
import { isSchemaObject } from '../schema/subschema-keywords.js';
import { findDuplicates, violationAt } from './violation-at.js';

const MAX_BYTES = 65_536;
/** OpenAPI ignores parameters with these names. */
export const IGNORED_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'content-type',
]);

type ValidateSchema = (schema: JsonSchema, path: Path) => Violation[];

/** @param path the path of the operation */
export function validateParameters(
  route: ManifestRoute,
  path: Path,
  validateSchema: ValidateSchema,
): Violation[] {
  const { parameters } = route.operation ?? {};
  if (parameters === undefined) return [];
  const place = [...path, 'parameters'];
  if (Buffer.byteLength(canonicalizeValue(parameters)) > MAX_BYTES) {
    const rest = `must be at most ${MAX_BYTES} bytes in canonical form`;
    return [violationAt(place, 'parameters-too-large', rest)];
  }
  const names = listCheckedNames(route);
  return [
    ...findDuplicates(parameters, place, (one) => `${one.in} ${spell(one)}`, 'name'),
    ...parameters.flatMap((parameter, index) => [
      ...validateForm(parameter, [...place, index]),
      ...validateName(parameter, route, names).map(({ rule, rest, hint }) =>
        violationAt([...place, index, 'name'], rule, rest, hint),
      ),
      ...validateSchemas(parameter, [...place, index], validateSchema),
    ]),
  ];
}

/** Names of headers are the same in any case. */
function spell({ name, in: location }: RouteParameter): string {
  return location === 'header' ? name.toLowerCase() : name;
}

function listCheckedNames({ path, operation }: ManifestRoute) {
  const { properties, required } = operation?.query_schema ?? {};
  const names = [
    ...Object.keys(isSchemaObject(properties) ? properties : {}),
    ...(Array.isArray(required) ? required : []),
  ];
  return { query: new Set<unknown>(names), path: new Set<unknown>(listPathNames(path)) };
}

interface Problem {
  readonly rule: string;
  readonly rest: string;
  readonly hint: string;
}

function validateName(
  parameter: RouteParameter,
  route: ManifestRoute,
  names: ReturnType<typeof listCheckedNames>,
): Problem[] {
  const { name } = parameter;
  if (parameter.in === 'header') {
    const rest = explainUnseenHeader(name.toLowerCase(), route);
    return rest === null ? [] : [{ rule: 'unseen-header', rest, hint: 'remove it' }];
  }
  const owner = names.query.has(name) ? 'query_schema' : names.path.has(name) ? 'the path' : null;
  if (owner === null) return [];
  const rest = `is described already: ${owner} has it`;
  return [{ rule: 'duplicate-name', rest, hint: `remove it here, or from ${owner}` }];
}

/** Why no descriptor lets the provider see a header; `null` for one that it may see. */
function explainUnseenHeader(name: string, { operation = {} }: ManifestRoute): string | null {
  if (!HEADER_NAME.test(name)) return 'is not the name of a header';
  if (IGNORED_HEADERS.has(name)) {
    return 'is ignored in OpenAPI: security and media types describe it';
  }
  if (name === 'idempotency-key' && operation.idempotency === 'requires_key') {
    return 'is described already: idempotency is requires_key';
  }
  const seen: readonly string[] = [
    ...REQUEST_IDS,
    ...TRACE_CONTEXT,
    ...(operation.body === 'bytes' || operation.body_types !== undefined ? BYTE_BODY_HEADERS : []),
    ...(operation.response === 'bytes' ? BYTE_REQUEST_HEADERS : []),
  ];
  const reason = seen.includes(name) ? null : explainDeniedHeader(name);
  return reason && `never reaches the provider: ${reason}`;
}

const STYLES: Readonly<Record<RouteParameter['in'], readonly string[]>> = {
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
};

function validateForm(parameter: RouteParameter, place: Path): Violation[] {
  const { in: location, style, schema, content } = parameter;
  const violate = (member: string, rest: string) =>
    violationAt([...place, member], 'invalid-parameter', rest);
  const ofQuery = (['allowEmptyValue', 'allowReserved'] as const).filter(
    (member) => location === 'header' && parameter[member] !== undefined,
  );
  const isStyled = style !== undefined && !STYLES[location].includes(style);
  const isDouble = content !== undefined && schema !== undefined;
  const { example, examples } = parameter;
  const hasBoth = example !== undefined && examples !== undefined;
  return [
    ...ofQuery.map((member) => violate(member, 'must be absent: only a query has it')),
    ...(isStyled ? [violate('style', `must be one of ${STYLES[location].join(', ')}`)] : []),
    ...(isDouble ? [violate('content', 'must not stand beside schema')] : []),
    ...(hasBoth ? [violate('examples', 'must not stand beside example')] : []),
  ];
}

function validateSchemas(
  { schema, content = {} }: RouteParameter,
  place: Path,
  validate: ValidateSchema,
): Violation[] {
  const ofContent = Object.entries(content).flatMap(([type, media]) => {
    if (media.schema === undefined) return [];
    return validate(media.schema, [...place, 'content', type, 'schema']);
  });
  return [...(schema === undefined ? [] : validate(schema, [...place, 'schema'])), ...ofContent];
}

/** The names of the parameters of a template, which may be invalid. */
export function listPathNames(template: string): string[] {
  return [...template.matchAll(/\{([^{}]*?)(?:\.\.\.)?\}/g)].map(([, name = '']) => name);
}
