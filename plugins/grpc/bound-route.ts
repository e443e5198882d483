import {
  create,
  type DescField,
  type DescMessage,
  type DescMethod,
  equals,
  type FileRegistry,
  type Message,
  ScalarType,
  toBinary,
} from '@bufbuild/protobuf';
import { isWrapperDesc } from '@bufbuild/protobuf/wkt';
import type { HttpRouteOperation, ManifestRoute } from '../../core/contract/index.js';
import { createInvalidRequest } from '../shared/transport.js';
import { listBound, listParameters, PARAMETER } from './check-bind.js';
import { type GrpcOperation, isFieldPath } from './config.js';
import { type ExactValue, findExcess, parseExactly } from './exact-values.js';
import { findInvalid } from './find-invalid.js';
import {
  describeItem,
  findField,
  findFieldPath,
  hasOwnJson,
  restoreMembers,
  restoreNumbers,
} from './message-fields.js';
import { readExactly } from './read-exactly.js';
import { findMethod } from './schema.js';

export const HTTP_BODY = 'google.api.HttpBody';

type Members = Record<string, unknown>;

interface PathField {
  readonly fields: readonly DescField[];
  /** The text with parameters in braces. */
  readonly template: string;
}

interface QueryField {
  /** As in the query. */
  readonly name: string;
  readonly fields: readonly DescField[];
  readonly texts: readonly string[];
}

const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** A route with its method, which writes the message of a request. */
export class BoundRoute {
  readonly method: DescMethod;
  /** `:path` of the calls. */
  readonly path: string;
  readonly isStreaming: boolean;
  /** The field of the response that is returned; `null` for the whole message. */
  readonly responseField: DescField | null;
  readonly #registry: FileRegistry;
  /** The field that the body becomes; `null` for the whole message. */
  readonly #bodyField: DescField | null;
  readonly #hasBody: boolean;
  readonly #pathFields: readonly PathField[];

  /** @throws Error for an operation that does not fit its method; the message continues `route … `. */
  constructor(registry: FileRegistry, operation: GrpcOperation, { method, path }: ManifestRoute) {
    const found = findMethod(registry, operation.method);
    if (found === null) throw new Error(`calls '${operation.method}', which is not described`);
    if (found.methodKind === 'client_streaming' || found.methodKind === 'bidi_streaming') {
      throw new Error(`calls '${operation.method}', whose requests are a stream`);
    }
    this.method = found;
    this.path = `/${operation.method}`;
    this.isStreaming = found.methodKind === 'server_streaming';
    this.#registry = registry;
    const { body = BODY_METHODS.has(method) ? '*' : '', response_body } = operation;
    this.#hasBody = body !== '';
    this.#bodyField = body === '' || body === '*' ? null : needField(found.input, body);
    this.responseField =
      response_body === undefined ? null : needField(found.output, response_body);
    this.#pathFields = bindPath(found.input, path, operation.bind ?? {});
  }

  /** Whether the response is bytes instead of JSON. */
  get hasBytes(): boolean {
    return (this.responseField?.message ?? this.method.output).typeName === HTTP_BODY;
  }

  /** @throws ProviderFailure with the place of the value that does not fit. */
  encode(operation: HttpRouteOperation, contentType: string, body: Uint8Array | null): Uint8Array {
    const { input } = this.method;
    const bytesOwner = this.#hasBody ? (this.#bodyField?.message ?? input) : null;
    const isBytes = bytesOwner?.typeName === HTTP_BODY;
    const root = this.#readBody(isBytes ? null : body);
    this.#setQuery(root, operation.target);
    this.#setPath(root, operation.pathParams);
    const message = this.#read(root);
    if (isBytes) this.#setBytes(message, contentType, body ?? new Uint8Array());
    try {
      return toBinary(input, message);
    } catch (cause) {
      throw createInvalidRequest('', `must be JSON of ${input.typeName}`, cause);
    }
  }

  #readBody(body: Uint8Array | null): Members {
    if (!this.#hasBody || body === null || body.length === 0) return {};
    const { value, mark } = readJson(body);
    const excess = findExcess(value);
    if (excess !== null) throw createInvalidRequest('', excess);
    const field = this.#bodyField;
    if (field !== null) {
      const restored =
        mark === null ? value : restoreNumbers(value, field, { mark, registry: this.#registry });
      return { [field.jsonName]: restored };
    }
    const { input } = this.method;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw createInvalidRequest('', 'must be an object');
    }
    if (mark !== null) {
      restoreMembers(value as Members, input, { mark, registry: this.#registry });
    }
    return value as Members;
  }

  #setQuery(root: Members, target: string): void {
    const queryAt = target.indexOf('?');
    if (queryAt === -1) return;
    const values = new Map<string, string[]>();
    for (const [name, value] of new URLSearchParams(target.slice(queryAt + 1))) {
      const all = values.get(name);
      if (all === undefined) values.set(name, [value]);
      else all.push(value);
    }
    const named = new Set<string>();
    for (const [name, texts] of values) {
      const fields = findFieldPath(this.method.input, name);
      // `query_schema` validates undeclared names.
      if (fields === null) continue;
      const path = fields.map((field) => field.name).join('.');
      if (named.has(path)) {
        throw createInvalidRequest(`query.${name}`, 'must not be named in both spellings');
      }
      named.add(path);
      this.#setParameter(root, { name, fields, texts });
    }
  }

  #setParameter(root: Members, { name, fields, texts }: QueryField): void {
    const place = `query.${name}`;
    const isOfPath = this.#pathFields.some((bound) => isSame(bound.fields, fields));
    const isOfBody = this.#hasBody && (this.#bodyField ?? fields[0]) === fields[0];
    if (isOfBody && !isOfPath) throw createInvalidRequest(place, 'must be a member of the body');
    const last = fields.at(-1) as DescField;
    if (last.fieldKind !== 'list' && texts.length > 1) {
      throw createInvalidRequest(place, 'must be given once');
    }
    const values = texts.map((text) => toJsonValue(last, text));
    this.#set(root, fields, last.fieldKind === 'list' ? values : values[0], place);
  }

  #setPath(root: Members, parameters: HttpRouteOperation['pathParams']): void {
    for (const { fields, template } of this.#pathFields) {
      const text = template.replace(PARAMETER, (_, name: string) => parameters[name] ?? '');
      const last = fields.at(-1) as DescField;
      const place = `path.${PARAMETER.exec(template)?.[1] ?? last.name}`;
      PARAMETER.lastIndex = 0;
      this.#set(root, fields, toJsonValue(last, text), place);
    }
  }

  /** @throws ProviderFailure for another value in the same place, and for one that does not fit. */
  #set(root: Members, fields: readonly DescField[], value: unknown, place: string): void {
    const last = fields.at(-1) as DescField;
    const parsed = tryRead(last, value, this.#registry);
    if (parsed === null || !isSettable(last)) {
      throw createInvalidRequest(place, `must be ${describeItem(last)}`);
    }
    let holder = root;
    for (const field of fields.slice(0, -1)) {
      const name = spellingIn(holder, field);
      const inner = holder[name] ?? {};
      if (typeof inner !== 'object' || Array.isArray(inner)) return;
      holder[name] = inner;
      holder = inner as Members;
    }
    const name = spellingIn(holder, last);
    const before = holder[name];
    if (before !== undefined && before !== null) {
      const other = tryRead(last, before, this.#registry);
      if (other === null || !equals(last.parent, other, parsed)) {
        throw createInvalidRequest(place, 'must have the same value wherever it is given');
      }
    }
    holder[name] = value;
  }

  #read(root: Members): Message {
    const { input } = this.method;
    try {
      return readExactly(input, root, this.#registry);
    } catch (error) {
      const invalid = findInvalid(input, root, this.#registry);
      const path = invalid?.path ?? [];
      // The body is the value of one member.
      const steps = this.#bodyField === null ? path : path.slice(1);
      const pointer = steps.map((step) => `/${escapeStep(String(step))}`).join('');
      const reason = invalid?.reason ?? `must be JSON of ${input.typeName}`;
      throw createInvalidRequest(pointer, reason, error);
    }
  }

  #setBytes(message: Message, contentType: string, data: Uint8Array): void {
    const field = this.#bodyField;
    if (field === null) Object.assign(message, { contentType, data });
    else if (field.message !== undefined) {
      Object.assign(message, { [field.localName]: create(field.message, { contentType, data }) });
    }
  }
}

function needField(message: DescMessage, name: string): DescField {
  const field = findField(message, name);
  if (field === undefined) throw new Error(`names '${name}', which ${message.typeName} has not`);
  return field;
}

function readJson(body: Uint8Array): ExactValue {
  try {
    return parseExactly(Buffer.from(body).toString());
  } catch {
    throw createInvalidRequest('', 'must be JSON');
  }
}

/** Binds each parameter of a path to a field of its name, or of `bind`. */
function bindPath(
  input: DescMessage,
  path: string,
  bind: Readonly<Record<string, string>>,
): PathField[] {
  const composed = Object.entries(bind).filter(([, text]) => !isFieldPath(text));
  const consumed = composed.flatMap((entry) => listBound(entry));
  const single = listParameters(path)
    .filter((name) => !consumed.includes(name))
    .map((name): [string, string] => [bind[name] ?? name, `{${name}}`]);
  return [...single, ...composed].map(([name, template]) => {
    const fields = findFieldPath(input, name);
    const last = fields?.at(-1);
    if (fields === null || last === undefined) {
      throw new Error(`binds a parameter to '${name}', which ${input.typeName} has not`);
    }
    if (!isSingle(last)) {
      throw new Error(`binds a parameter to '${name}', which is not a single value`);
    }
    return { fields, template };
  });
}

/** Whether a parameter of a path can set the field. */
export function isSingle(field: DescField): boolean {
  return field.fieldKind !== 'list' && isSettable(field);
}

/** Whether a parameter can set the field. */
function isSettable({ fieldKind, message }: DescField): boolean {
  if (fieldKind === 'map') return false;
  return message === undefined || (hasOwnJson(message) && !STRUCTURED.has(message.typeName));
}

const STRUCTURED: ReadonlySet<string> = new Set(
  ['Struct', 'Value', 'ListValue', 'Any'].map((name) => `google.protobuf.${name}`),
);

const INTEGER = /^-?\d{1,10}$/;

/** The JSON of one value that was given as text. */
function toJsonValue(field: DescField, text: string): unknown {
  const { message } = field;
  const wrapped = message !== undefined && isWrapperDesc(message) ? message.fields[0] : field;
  if (wrapped?.scalar === ScalarType.BOOL && /^(?:true|false)$/.test(text)) return text === 'true';
  return field.enum !== undefined && INTEGER.test(text) ? Number(text) : text;
}

/** The message with this field alone; `null` for a value that does not fit. */
function tryRead(field: DescField, value: unknown, registry: FileRegistry): Message | null {
  try {
    return readExactly(field.parent, { [field.jsonName]: value }, registry);
  } catch {
    return null;
  }
}

function spellingIn(members: Members, { name, jsonName }: DescField): string {
  return Object.hasOwn(members, name) ? name : jsonName;
}

function isSame(one: readonly DescField[], other: readonly DescField[]): boolean {
  return one.length === other.length && one.every((field, index) => field === other[index]);
}

function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
