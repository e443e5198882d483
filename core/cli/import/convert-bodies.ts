import type { EventForm } from '../../contract/index.js';
import { containsJson, MEDIA_TYPE_RANGE } from '../../lib/media-type.js';
import { STREAM_TYPES } from '../../manifest/stream-rules.js';
import { asObject, isObject, type JsonObject } from '../json-value.js';
import { convertSchema } from './convert-schema.js';
import type { DraftOperation } from './draft-manifest.js';
import type { Direction } from './marked-members.js';
import { follow, followReference } from './openapi-document.js';
import type { OperationContext } from './operation-context.js';
import { type NamedExamples, readBodyExamples } from './read-examples.js';

type BodyRule = 'required' | 'optional' | 'none' | 'bytes';

interface ConvertedBody {
  readonly rule: BodyRule;
  /** The media types of bytes. */
  readonly form: Pick<DraftOperation, 'body_types'>;
  readonly schema: JsonObject | null;
  readonly examples: NamedExamples;
}

interface ConvertedResponse {
  /** Members of the operation that describe a response without JSON. */
  readonly form: Pick<
    DraftOperation,
    'response' | 'response_types' | 'stream' | 'stream_types' | 'stream_optional'
  >;
  readonly schema: JsonObject | null;
  readonly examples: NamedExamples;
}

interface OtherType {
  readonly type: string;
  /** `null` unless it is a stream of events. */
  readonly form: EventForm | null;
}

interface MediaTypes {
  /** The schemas and examples of JSON types. */
  readonly json: readonly JsonObject[];
  readonly others: readonly OtherType[];
  /** Why a media type is unknown: `a reference that leads nowhere`. */
  readonly unknown: string | null;
}

const JSON_TYPE = /^(?:application\/(?:json|[^\s;]+\+json|\*)|\*\/\*)\s*(?:;|$)/i;

const ANY_TYPE = '*/*';

/** What frameworks send for a text of which a document does not say the type. */
const TEXT: OtherType = { type: 'text/*', form: null };

const BESIDE_JSON = 'it cannot stand beside JSON';

const NONE: ConvertedBody = { rule: 'none', form: {}, schema: null, examples: new Map() };

export function convertRequestBody(
  operation: JsonObject,
  isGet: boolean,
  context: OperationContext,
): ConvertedBody {
  if (operation['requestBody'] === undefined) return NONE;
  const { value: body, problem } = follow(context.document, operation['requestBody']);
  const { json, others, unknown } = splitMediaTypes(body, context);
  const cause =
    problem ?? unknown ?? (json.length + others.length === 0 ? 'without a media type' : null);
  if (cause !== null) {
    context.report('body of the request', `it is ${cause}: any body is accepted`);
    return { ...NONE, rule: isGet ? 'optional' : 'bytes' };
  }
  if (json.length === 0) {
    if (isGet) {
      context.report('body of the request', 'that of a GET can only be JSON');
      return NONE;
    }
    const types = others.map(({ type }) => type);
    return { ...NONE, rule: 'bytes', form: listTypes('body_types', types) };
  }
  const types = isGet ? [] : listTypesBesideJson(others);
  const reason = isGet ? 'that of a GET can only be JSON' : BESIDE_JSON;
  listOtherTypes(
    'request',
    others.filter(({ type }) => !types.includes(toPlain(type))),
    context,
    reason,
  );
  return {
    rule: body['required'] === true && !isGet ? 'required' : 'optional',
    form: types.length === 0 ? {} : { body_types: types },
    schema: convertAlternatives(json.map(readSchema), 'input', context),
    examples: readBodyExamples(json, context),
  };
}

/**
 * Converts the responses with a status 2xx. A document that names only other statuses does not
 * exclude a 2xx.
 * @param isGet whether it may be a WebSocket, whose only success is a 101
 */
export function convertResponses(
  operation: JsonObject,
  context: OperationContext,
  isGet: boolean,
): ConvertedResponse {
  const all = follow(context.document, operation['responses']);
  const entries = Object.entries(all.value).filter(([status]) => !status.startsWith('x-'));
  const followed = entries.map(([status, response]) => {
    return { status, ...follow(context.document, response) };
  });
  const responses = followed.map(({ status, value }) => [status, value] as const);
  const successes = responses.filter(([status]) => /^2/.test(status));
  const opens = isGet && responses.some(([status]) => status === '101');
  if (opens && successes.length === 0) {
    return { form: { stream: 'websocket' }, schema: null, examples: new Map() };
  }
  // Beside a redirect, the default is that of errors.
  const hasOthers = responses.some(([status]) => /^[123]/.test(status));
  const used = hasOthers ? successes : responses.filter(([status]) => status === 'default');
  listUnused(responses, used, context);
  const types = used.map(([, response]) => splitMediaTypes(response, context));
  const problems = [
    all.problem,
    ...followed.map(({ status, problem }) =>
      used.some(([one]) => one === status) ? problem : null,
    ),
    ...types.map(({ unknown }) => unknown),
  ];
  const problem = problems.find((one) => one !== null);
  if (problem !== undefined) {
    context.report('response', `it is ${problem}: any response is accepted`);
    return { form: { response: 'bytes' }, schema: null, examples: new Map() };
  }
  const json = types.flatMap((mediaTypes) => mediaTypes.json);
  const others = types.flatMap((mediaTypes) => mediaTypes.others);
  const empty = used.filter(([status], index) => {
    return HAS_NO_BODY.test(status) || isEmpty(types[index]);
  });
  listRedirects(responses, context);
  if (json.length === 0 && others.length > 0) {
    const hasBytes = others.some(({ form, type }) => form === null && !JSON_SEQUENCE.test(type));
    const form = hasBytes ? listBytes(others) : convertForm(others);
    const unlike = others.filter((other) => other.form !== (form.stream ?? null));
    const reason = hasBytes ? 'it is carried as bytes, like the other types' : undefined;
    listOtherTypes('response', unlike, context, reason);
    return { form, schema: null, examples: new Map() };
  }
  const streamed = others.some(({ form }) => form !== null) ? convertForm(others) : null;
  const hasNone = used.length > 0 && used.every(([status]) => HAS_NO_BODY.test(status));
  const isUnknown = json.length + others.length === 0 && !hasNone;
  const besideJson = streamed === null ? listTypesBesideJson(isUnknown ? [TEXT] : others) : [];
  const unlike = others.filter(({ type, form }) =>
    streamed === null ? !besideJson.includes(toPlain(type)) : form !== streamed.stream,
  );
  listOtherTypes('response', unlike, context, streamed === null ? BESIDE_JSON : undefined);
  // Only some statuses exclude a body. For others, the document does not say whether there is one.
  const withoutBody = empty.map(([status]) => (HAS_NO_BODY.test(status) ? NULL : undefined));
  return {
    form: {
      ...(besideJson.length > 0 && { response_types: besideJson }),
      ...(streamed !== null && { ...streamed, stream_optional: true }),
    },
    schema: convertAlternatives([...json.map(readSchema), ...withoutBody], 'output', context),
    examples: readBodyExamples(json, context),
  };
}

/** Statuses without a body, whatever a document says. */
const HAS_NO_BODY = /^20[45]$/;

const FORMS: readonly (readonly [type: RegExp, form: EventForm])[] = [
  [/^text\/event-stream\b/i, 'sse'],
  [/^application\/(?:x-)?(?:ndjson|jsonl|jsonlines)\b/i, 'ndjson'],
];

/** A stream of JSON values in a form that the host does not read (RFC 7464). */
const JSON_SEQUENCE = /^application\/(?:[^\s;]+\+)?json-seq\b/i;

/** A sequence of JSON without a type of its own has a value in each line. */
function formOf(type: string, value: JsonObject): EventForm | null {
  const known = FORMS.find(([pattern]) => pattern.test(type))?.[1];
  return known ?? (isSequence(value) && JSON_TYPE.test(type) ? 'ndjson' : null);
}

function convertForm(others: readonly OtherType[]): ConvertedResponse['form'] {
  const stream = others.map(({ form }) => form).find((form) => form !== null);
  const types = others.filter(({ form }) => form === (stream ?? null)).map(({ type }) => type);
  return stream === undefined ? listBytes(others) : { stream, ...listStreamTypes(stream, types) };
}

function listBytes(others: readonly OtherType[]): ConvertedResponse['form'] {
  const types = others.map(({ type }) => type);
  return { response: 'bytes', ...listTypes('response_types', types) };
}

/** Returns the types only if the host does not know one of them. */
function listStreamTypes(stream: EventForm, types: readonly string[]) {
  const listed = listTypes('stream_types', types);
  const knownTypes: readonly string[] = STREAM_TYPES[stream];
  return listed.stream_types?.every((type) => knownTypes.includes(type)) === true ? {} : listed;
}

function toPlain(type: string): string {
  return type.replace(/;.*$/s, '').trim().toLowerCase();
}

function listTypesBesideJson(others: readonly OtherType[]): string[] {
  const plain = new Set(others.map(({ type }) => toPlain(type)));
  return [...plain].filter((type) => MEDIA_TYPE_RANGE.test(type) && !containsJson(type));
}

/** Removes parameters. Returns none for all types, for ranges of streams or an invalid type. */
function listTypes<Name extends 'body_types' | 'response_types' | 'stream_types'>(
  name: Name,
  types: readonly string[],
): { [name in Name]?: string[] } {
  const plain = types.map(toPlain);
  const isListed = (type: string) => {
    return MEDIA_TYPE_RANGE.test(type) && !type.startsWith('*') && isRangeAllowed(name, type);
  };
  if (plain.length === 0 || !plain.every(isListed)) return {};
  return { [name]: [...new Set(plain)] } as { [name in Name]?: string[] };
}

function isRangeAllowed(name: string, type: string): boolean {
  return name !== 'stream_types' || !type.endsWith('*');
}

function listRedirects(
  responses: readonly (readonly [string, JsonObject])[],
  { report }: OperationContext,
): void {
  const statuses = responses.map(([status]) => status).filter((status) => /^3(?!04)/.test(status));
  for (const status of statuses) {
    report(
      `redirect ${status}`,
      'name its origins in responses.redirects of the descriptor, in raw mode',
    );
  }
}

/** The schema of a response without a body in the envelope. */
const NULL: JsonObject = { enum: [null] };

const readSchema = ({ schema }: JsonObject) => schema;

function isEmpty(types: MediaTypes | undefined): boolean {
  return types?.json.length === 0 && types.others.length === 0;
}

function splitMediaTypes(body: JsonObject, { document, report }: OperationContext): MediaTypes {
  const { value: content, problem } = follow(document, body['content']);
  const followed = Object.entries(content).map(([type, value]) => {
    return { type, ...follow(document, value) };
  });
  const unknown = [problem, ...followed.map((one) => one.problem)].find((one) => one !== null);
  const entries = followed.map(({ type, value }): [string, JsonObject] => [type, value]);
  const isFile = ([, { schema }]: [string, JsonObject]) => {
    const { type, format } = followReference(document, schema);
    return type === 'string' && format === 'binary';
  };
  const isJson = (entry: [string, JsonObject]) =>
    JSON_TYPE.test(entry[0]) && !isFile(entry) && !isSequence(entry[1]);
  const json = entries.filter(isJson).map(([, value]) => value);
  const others = entries
    .filter((entry) => !isJson(entry))
    .map((entry) => {
      const [type, value] = entry;
      // Frameworks write the type of JSON for files of any type.
      const isAny = isFile(entry) && JSON_TYPE.test(type) && !type.includes('*');
      return { type: isAny ? ANY_TYPE : type, form: formOf(type, value) };
    });
  const isText = ([type, { schema }]: [string, JsonObject]) =>
    type === ANY_TYPE && mayBeText(followReference(document, schema));
  if (entries.some((entry) => isJson(entry) && isText(entry))) {
    others.push(TEXT);
  }
  if (entries.some(([, value]) => value['itemSchema'] !== undefined)) {
    report('schema of items', 'the host does not check the items of a stream');
  }
  return { json, others, unknown: unknown ?? null };
}

function mayBeText(schema: JsonObject): boolean {
  return schema['type'] === 'string' || Object.keys(schema).length === 0;
}

/** Whether the media type is a stream of values, which OpenAPI 3.2 describes one by one. */
function isSequence({ schema, itemSchema }: JsonObject): boolean {
  return itemSchema !== undefined && schema === undefined;
}

/** Merges the schemas of several media types or statuses. Returns `null` if any value is valid. */
function convertAlternatives(
  schemas: readonly unknown[],
  direction: Direction,
  context: OperationContext,
): JsonObject | null {
  const distinct = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  const alternatives = [...distinct.values()];
  const isOpen = alternatives.some((schema) => schema === undefined || schema === true);
  if (isOpen || alternatives.length === 0) return null;
  const [first] = alternatives;
  if (alternatives.length === 1 && first === NULL) return { type: 'null' };
  return convertSchema(alternatives.length === 1 ? first : { anyOf: alternatives }, {
    ...context,
    direction,
  });
}

function listOtherTypes(
  subject: string,
  types: readonly OtherType[],
  { report }: OperationContext,
  reason = 'a route carries a stream or bytes, not both',
): void {
  for (const { type } of types) {
    report(`${subject} as ${type}`, reason);
  }
}

function listUnused(
  responses: readonly (readonly [string, JsonObject])[],
  used: readonly (readonly [string, JsonObject])[],
  { report }: OperationContext,
): void {
  for (const [status, response] of responses) {
    const isUsed = used.some(([usedStatus]) => usedStatus === status);
    if (!isUsed && isObject(response['content'])) {
      report('schemas of error responses', 'clients get Problems instead');
    }
    for (const name of isUsed ? Object.keys(asObject(response['headers'])) : []) {
      report(`response header ${name}`, 'name it in responses.expose_headers of the descriptor');
    }
    if (isObject(response['links'])) report('links', 'a manifest has none');
  }
}
