import type { RouteExample } from '../../contract/index.js';
import { asList, asText, type JsonObject } from '../json-value.js';
import { convertRequestBody, convertResponses } from './convert-bodies.js';
import { convertParameters } from './convert-parameters.js';
import { type DraftOperation, type DraftRoute, OPERATION_PLACE } from './draft-manifest.js';
import type { OpenApiDocument } from './openapi-document.js';
import type { NamedExamples } from './read-examples.js';
import type { SharedDefinitions } from './shared-definitions.js';
import type { Report, UnmappedParts } from './unmapped.js';

interface OperationSource {
  readonly document: OpenApiDocument;
  readonly method: string;
  readonly path: string;
  readonly item: JsonObject;
  readonly operation: JsonObject;
  readonly unmapped: UnmappedParts;
  readonly shared: SharedDefinitions;
}

/** The body of a route that declares none, by method. */
const DEFAULT_BODY: Readonly<Record<string, 'required' | 'none'>> = {
  POST: 'required',
  PUT: 'required',
  PATCH: 'required',
};

export const SECURITY_REASON =
  'each route needs its capability, and the descriptor has the credentials';

/** Converts an operation to a route, which the rules of the host may still reject. */
export function convertOperation(source: OperationSource): DraftRoute {
  const { document, method, item, operation, unmapped, shared } = source;
  const place = `${method} ${source.path}`;
  const report = unmapped.at(place);
  const context = { document, unmapped, report, shared };
  const body = convertRequestBody(operation, method === 'GET', context);
  const response = convertResponses(operation, context, method === 'GET');
  const { querySchema, pathSchemas, parameters, requiresKey, encoded, rest } = convertParameters(
    item,
    operation,
    context,
  );
  const path = convertPath(source.path, rest);
  const pathSchema = createPathSchema(path, pathSchemas);
  if (source.path.includes('?')) {
    report('the query in its path', 'a route is chosen by the path: any query passes');
  }
  if (source.path.includes('#')) {
    report('the fragment of its path', 'a route is chosen by the path: no request has a fragment');
  }
  for (const [name, usable] of path.names) {
    if (name !== usable)
      report(`name of the parameter ${name}`, 'it gets another one in the route');
  }
  listOtherParts(source, report);
  const examples = pairExamples(body.examples, response.examples);
  const draft: DraftOperation = {
    ...text('operation_id', operation['operationId']),
    ...(requiresKey && { idempotency: 'requires_key' }),
    ...(body.rule !== (DEFAULT_BODY[method] ?? 'none') && { body: body.rule }),
    ...body.form,
    ...response.form,
    ...convertEncoded(path, encoded),
    ...(querySchema !== null && { query_schema: querySchema }),
    ...(pathSchema !== null && { path_params_schema: pathSchema }),
    ...(parameters.length > 0 && { parameters: [...parameters] }),
    ...(body.schema !== null && { input_schema: body.schema }),
    ...(response.schema !== null && { output_schema: response.schema }),
    ...(examples.length > 0 && { examples }),
  };
  const tags = asList(operation['tags']).flatMap((tag) => asText(tag) ?? []);
  return {
    [OPERATION_PLACE]: place,
    method,
    path: path.template,
    ...text('summary', operation['summary'] ?? item['summary']),
    ...text('description', operation['description'] ?? item['description']),
    ...(tags.length > 0 && { tags: [...new Set(tags)] }),
    ...(operation['deprecated'] === true && { deprecated: true }),
    ...(Object.keys(draft).length > 0 && { operation: draft }),
  };
}

/** Names that templates allow, by those of the document. */
function nameParameters(names: readonly string[]): ReadonlyMap<string, string> {
  const usable = new Map<string, string>();
  for (const name of names) {
    const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    const taken = new Set([...usable.values(), ...names.filter((one) => one !== name)]);
    const suffix = ['', ...names.keys()].find((one) => !taken.has(`${plain}${one}`)) ?? '';
    usable.set(name, `${plain}${suffix}`);
  }
  return usable;
}

function text<Name extends string>(name: Name, value: unknown): { [name in Name]?: string } {
  const declaredName = asText(value)?.trim();
  return declaredName === undefined || declaredName === ''
    ? {}
    : ({ [name]: declaredName } as { [name in Name]?: string });
}

function listOtherParts({ item, operation }: OperationSource, report: Report): void {
  if (operation['callbacks'] !== undefined) {
    report('callbacks', 'the host carries calls in one direction');
  }
  if (operation['security'] !== undefined) report('security', SECURITY_REASON);
  const servers = operation['servers'] ?? item['servers'];
  if (servers !== undefined) {
    report('its own servers', 'all calls go to the endpoint');
  }
}

function pairExamples(inputs: NamedExamples, outputs: NamedExamples): RouteExample[] {
  const names = new Set([...inputs.keys(), ...outputs.keys()]);
  return [...names].map((name) => {
    const [input, output] = [inputs.get(name), outputs.get(name)];
    return {
      name,
      ...(input !== undefined && { input: input.value }),
      ...(output !== undefined && { output: output.value }),
    };
  });
}

interface ConvertedPath {
  readonly template: string;
  /** The names of its parameters, by those of the document. */
  readonly names: ReadonlyMap<string, string>;
}

/** Splits a path into alternating literals and parameter names. */
const PARAMETER = /\{([^{}]+)\}/;

/** How RFC 6570 writes what is before a parameter: `{/id}`, `{.format}`. */
const PREFIXED = /\{([/.])(?=[A-Za-z0-9_][^{},]*\})/g;

/** How services write a last parameter that takes several segments: `{proxy+}`, `{*path}`, … */
const REST = /^(?:\+|\*{1,2})?([A-Za-z0-9_-]+)(?:\+|\*|\.{3}|:path|:\.[*+])?$/;

/**
 * Converts a path of a document to a route template: literals are decoded, and parameter names get
 * the characters that templates allow. A query or a fragment is left out.
 * @param rest the names of parameters that take several segments
 */
function convertPath(path: string, rest: readonly string[]): ConvertedPath {
  const [withoutQuery = ''] = path.split(/\{?[?#]/);
  const all = withoutQuery.replaceAll(PREFIXED, '$1{').split(PARAMETER);
  const parameters = all.filter((_, index) => index % 2 === 1);
  const restName = findRestName(all, rest);
  if (restName !== null) parameters.splice(-1, 1, restName);
  const names = nameParameters(parameters);
  const parts = all.map((part, index) => {
    if (index % 2 === 0) return part.split('/').map(decodeLiteral).join('/');
    const isRest = restName !== null && index === all.length - 2;
    return isRest ? `{${names.get(restName)}...}` : `{${names.get(part)}}`;
  });
  return { template: parts.join(''), names };
}

/** The name of a last parameter that takes several segments; `null` for none. */
function findRestName(parts: readonly string[], rest: readonly string[]): string | null {
  const [before, part, after] = parts.slice(-3);
  if (part === undefined || after !== '' || before?.endsWith('/') !== true) return null;
  const [, name = part] = REST.exec(part) ?? [];
  return name !== part || rest.includes(part) ? name : null;
}

/** A parameter that takes several segments takes encoded slashes as parts of none. */
function convertEncoded({ template, names }: ConvertedPath, written: readonly string[]) {
  const encoded = written.map((name) => names.get(name) ?? name);
  const single = encoded.filter((name) => !template.includes(`{${name}...}`));
  return single.length > 0 ? { encoded: single } : {};
}

/** Returns `null` if nothing is known of the parameters in the template. */
function createPathSchema(
  { names }: ConvertedPath,
  schemas: ReadonlyMap<string, JsonObject>,
): JsonObject | null {
  const used = [...names].flatMap(([name, usable]) => {
    const schema = schemas.get(name);
    return schema === undefined ? [] : [[usable, schema] as const];
  });
  return used.length === 0 ? null : { type: 'object', properties: Object.fromEntries(used) };
}

/**
 * Decodes a literal, because templates are compared with decoded segments. One that would become
 * several segments or a parameter stays, and is rejected: no request can match it.
 */
function decodeLiteral(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    return /[/{}]/.test(decoded) ? text : decoded;
  } catch {
    return text;
  }
}
