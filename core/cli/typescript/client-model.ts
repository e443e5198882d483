import { PROBLEMS } from '../../errors.js';
import { followReference } from '../import/openapi-document.js';
import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { METHODS } from '../openapi/read-document.js';
import { toIdentifier, toTypeName, UniqueIdentifiers } from './names.js';

/** The parts of a client for one OpenAPI document of a host. */
export interface ClientModel {
  /** The digest of the modules. */
  readonly version: string;
  readonly modules: readonly ClientModule[];
  readonly schemas: JsonObject;
}

export interface ClientModule {
  /** The configured name. */
  readonly name: string;
  /** The member of the client. */
  readonly member: string;
  readonly typeName: string;
  /** The name of the error type that most of its functions share. */
  readonly errorName: string;
  readonly functions: readonly ClientFunction[];
  /** `GET /path` of routes without a function: streams of events and WebSockets. */
  readonly leftOut: readonly string[];
}

export const TYPE_SUFFIXES: readonly string[] = ['Input', 'Data', 'Error'];

export interface ClientFunction {
  readonly name: string;
  /** The name without a suffix. */
  readonly typeName: string;
  readonly method: string;
  /** The literal parts, and the arguments between them. */
  readonly path: readonly (string | PathArgument)[];
  readonly pathText: string;
  readonly query: readonly QueryArgument[];
  /** `null` without a body. */
  readonly body: {
    readonly schema: unknown;
    readonly isRequired: boolean;
    /** Whether the body has any media type. */
    readonly isBytes: boolean;
  } | null;
  readonly data: unknown;
  /** Whether the response has any media type: the function then resolves to the response itself. */
  readonly isBytes: boolean;
  /** Whether the response is the provider's response without the envelope. */
  readonly isRaw: boolean;
  readonly needsKey: boolean;
  readonly problems: readonly ProblemKind[];
  readonly comment: readonly string[];
}

interface PathArgument {
  readonly argument: string;
  readonly isRest: boolean;
  readonly schema: unknown;
}

interface QueryArgument {
  readonly argument: string;
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: unknown;
}

interface ProblemKind {
  readonly code: string;
  readonly status: number;
}

/** The maximum depth of combined schemas, whose references may form a circle. */
const MAX_NESTED = 5;

const BYTES = 'x-modgate-bytes';
/** Marks a response that is a stream of events or opens a WebSocket. */
const STREAM = 'x-modgate-stream';

export function readClientModel(document: unknown): ClientModel {
  const root = asObject(document);
  const modules = new Map<string, Draft>();
  const members = new UniqueIdentifiers();
  const types = new UniqueIdentifiers();
  for (const [path, item] of Object.entries(asObject(root['paths']))) {
    for (const method of METHODS) {
      const operation = asObject(item)[method];
      if (!isObject(operation)) continue;
      const name = asText(asList(operation['tags'])[0]) ?? 'default';
      const module = modules.get(name) ?? createDraft(name, members, types);
      modules.set(name, module);
      if (isStream(root, operation)) {
        module.leftOut.push(`${method.toUpperCase()} ${path}`);
        continue;
      }
      const source = { root, path, item: asObject(item), method, operation };
      module.functions.push(readFunction(source, module));
    }
  }
  return {
    version: asText(asObject(root['info'])['version']) ?? '',
    modules: [...modules.values()],
    schemas: asObject(asObject(root['components'])['schemas']),
  };
}

interface Draft extends ClientModule {
  readonly functions: ClientFunction[];
  readonly leftOut: string[];
  readonly names: UniqueIdentifiers;
  readonly types: UniqueIdentifiers;
}

function createDraft(name: string, members: UniqueIdentifiers, types: UniqueIdentifiers): Draft {
  const member = members.add(toIdentifier(name));
  const typeName = types.add(`${toTypeName(member)}Client`);
  const errorName = types.add(`${toTypeName(member)}Error`);
  const names = new UniqueIdentifiers();
  return { name, member, typeName, errorName, functions: [], leftOut: [], names, types };
}

function isStream(root: JsonObject, operation: JsonObject): boolean {
  const responses = asObject(operation['responses']);
  return ['101', '200'].some(
    (status) => followReference({ root }, responses[status])[STREAM] !== undefined,
  );
}

interface Source {
  readonly root: JsonObject;
  readonly path: string;
  readonly item: JsonObject;
  readonly method: string;
  readonly operation: JsonObject;
}

function readFunction(source: Source, module: Draft): ClientFunction {
  const { method, operation, path } = source;
  const name = module.names.add(toIdentifier(readOperationName(source, module.name)));
  const parameters = readParameters(source);
  const body = followReference(source, operation['requestBody']);
  const success = readSuccess(source);
  return {
    name,
    typeName: module.types.add(`${toTypeName(module.member)}${toTypeName(name)}`, TYPE_SUFFIXES),
    method: method.toUpperCase(),
    path: splitPath(path, parameters),
    pathText: path,
    query: parameters.flatMap(({ place, argument, name: wireName, isRequired, schema }) =>
      place === 'query' ? [{ argument, name: wireName, isRequired, schema }] : [],
    ),
    body: isObject(operation['requestBody'])
      ? {
          schema: readJsonSchema(body),
          isRequired: body['required'] === true,
          isBytes: body[BYTES] === true,
        }
      : null,
    ...success,
    needsKey: needsKey(source),
    problems: readProblems(source),
    comment: describeFunction(source),
  };
}

/** The part after the name of the module. */
function readOperationName({ operation, method }: Source, module: string): string {
  const id = asText(operation['operationId']) ?? method;
  const prefix = `${module.replaceAll('/', '.')}.`;
  return id.startsWith(prefix) ? id.slice(prefix.length) : id;
}

interface Parameter {
  readonly place: 'path' | 'query';
  /** The name in the document. */
  readonly name: string;
  readonly argument: string;
  readonly isRequired: boolean;
  readonly isRest: boolean;
  readonly schema: unknown;
}

function readParameters({ root, item, operation }: Source): Parameter[] {
  const byKey = new Map<string, JsonObject>();
  for (const entry of [...asList(item['parameters']), ...asList(operation['parameters'])]) {
    const parameter = followReference({ root }, entry);
    byKey.set(`${String(parameter['in'])} ${String(parameter['name'])}`, parameter);
  }
  const used = [...byKey.values()].filter(
    (parameter) => parameter['in'] === 'path' || parameter['in'] === 'query',
  );
  const names = used.map((parameter) => ({ place: parameter['in'], name: readName(parameter) }));
  const argumentNames = new UniqueIdentifiers(
    operation['requestBody'] === undefined ? [] : ['body'],
  );
  return used.map((parameter): Parameter => {
    const place = parameter['in'] === 'path' ? 'path' : 'query';
    const name = readName(parameter);
    const clashes = names.some((other) => other.name === name && other.place !== place);
    const isPrefixed = clashes || name === 'body';
    return {
      place,
      name: String(parameter['name']),
      argument: argumentNames.add(toIdentifier(isPrefixed ? `${place}_${name}` : name)),
      isRequired: place === 'path' || parameter['required'] === true,
      isRest: parameter['x-modgate-rest'] === true,
      schema: parameter['schema'] ?? true,
    };
  });
}

/** Paths of the same shape use the parameter names of the first route. */
function readName(parameter: JsonObject): string {
  return asText(parameter['x-modgate-name']) ?? String(parameter['name']);
}

function splitPath(path: string, parameters: readonly Parameter[]): (string | PathArgument)[] {
  const parts = path.split(/\{([^{}]+)\}/);
  return parts.flatMap((part, index): (string | PathArgument)[] => {
    if (index % 2 === 0) return part === '' ? [] : [part];
    const parameter = parameters.find(({ place, name }) => place === 'path' && name === part);
    if (parameter === undefined) return [`{${part}}`];
    const { argument, isRest, schema } = parameter;
    return [{ argument, isRest, schema }];
  });
}

function readSuccess({
  root,
  operation,
}: Source): Pick<ClientFunction, 'data' | 'isRaw' | 'isBytes'> {
  const responses = Object.entries(asObject(operation['responses']));
  const success = responses.find(([status]) => /^2/.test(status))?.[1];
  const response = followReference({ root }, success);
  const isBytes = response[BYTES] === true;
  const schema = isBytes ? true : readJsonSchema(response);
  const envelope = findEnvelope(root, schema);
  if (envelope === null) return { data: schema, isRaw: true, isBytes };
  return { data: envelope['data'] ?? true, isRaw: false, isBytes };
}

/** The envelope's properties, perhaps of a common part and `data`; `null` in raw mode. */
function findEnvelope(root: JsonObject, schema: unknown): JsonObject | null {
  const properties = collectProperties(root, schema);
  return 'declared_path' in properties && 'provider_path' in properties ? properties : null;
}

function collectProperties(root: JsonObject, schema: unknown, depth = 0): JsonObject {
  if (depth > MAX_NESTED) return {};
  const followed = followReference({ root }, schema);
  const parts = asList(followed['allOf']).flatMap((part) =>
    Object.entries(collectProperties(root, part, depth + 1)),
  );
  return Object.fromEntries([...Object.entries(asObject(followed['properties'])), ...parts]);
}

function readJsonSchema(part: JsonObject): unknown {
  const media = Object.entries(asObject(part['content'])).find(([type]) => /json/i.test(type));
  return asObject(media?.[1])['schema'] ?? true;
}

function needsKey({ root, item, operation }: Source): boolean {
  const parameters = [...asList(item['parameters']), ...asList(operation['parameters'])];
  return parameters.some((entry) => {
    const { in: place, name, required } = followReference({ root }, entry);
    return place === 'header' && required === true && /^idempotency-key$/i.test(String(name));
  });
}

/** Reads the problems by status: the codes of the schemas, otherwise those of the status. */
function readProblems({ root, operation }: Source): ProblemKind[] {
  return Object.entries(asObject(operation['responses'])).flatMap(([text, response]) => {
    const status = Number(text);
    if (!(status >= 400)) return [];
    const listedCodes = listCodes(root, readJsonSchema(followReference({ root }, response)), 0);
    const codes = listedCodes.length > 0 ? listedCodes : codesOfStatus(status);
    return codes.map((code) => ({ code, status }));
  });
}

function listCodes(root: JsonObject, schema: unknown, depth: number): string[] {
  if (depth > MAX_NESTED) return [];
  const followed = followReference({ root }, schema);
  const { const: value, enum: values } = asObject(asObject(followed['properties'])['code']);
  const codes = [value, ...asList(values)].filter((code) => typeof code === 'string');
  const parts = ['allOf', 'oneOf', 'anyOf'].flatMap((keyword) => asList(followed[keyword]));
  const all = [...codes, ...parts.flatMap((part) => listCodes(root, part, depth + 1))];
  return [...new Set(all)];
}

function codesOfStatus(status: number): string[] {
  const codes = Object.entries(PROBLEMS).filter(([, problem]) => problem.status === status);
  return codes.length === 0 ? ['provider_error'] : codes.map(([code]) => code);
}

function describeFunction({ operation, path, method }: Source): string[] {
  const { summary, description, deprecated } = operation;
  const texts = [asText(summary), asText(description)].flatMap((text) => text ?? []);
  const capability = readCapability(operation);
  const line = `\`${method.toUpperCase()} ${path}\`${capability === null ? '' : `, needs \`${capability}\``}`;
  const paragraphs = [...new Set(texts), line].flatMap((text, index) =>
    index === 0 ? [text] : ['', text],
  );
  return [...paragraphs, ...(deprecated === true ? ['', '@deprecated'] : [])];
}

function readCapability({ security }: JsonObject): string | null {
  const [requirement] = asList(security);
  const [scopes] = Object.values(asObject(requirement));
  return asText(asList(scopes)[0]) ?? null;
}
