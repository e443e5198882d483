// The operations of a document, with a request and the responses that it documents.
import { follow, sampleValue } from './sample-values.mjs';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
const JSON_TYPE = /^application\/(?:json|[^\s;]+\+json)\s*(?:;|$)/i;
/** Forms of query parameters that lists and objects have, by their style. */
const SEPARATORS = { form: ',', spaceDelimited: '%20', pipeDelimited: '|' };

/**
 * Lists the operations of a document. Examples that the document itself does not allow are left out;
 * so are operations without a value that it allows.
 * @param rules by direction, of `createRules`
 */
export function listOperations(root, rules) {
  const context = { root, rules, contradictions: [], skipped: [] };
  const operations = Object.entries(root.paths ?? {}).flatMap(([path, written]) => {
    const item = follow(root, written) ?? {};
    return METHODS.flatMap((name) => {
      const operation = follow(root, item[name]);
      if (typeof operation !== 'object') return [];
      const method = name.toUpperCase();
      const place = `${method} ${path}`;
      const described = describe({ ...context, place }, method, path, item, operation);
      if (described === null) context.skipped.push(place);
      return described ?? [];
    });
  });
  return { operations, contradictions: context.contradictions, skipped: context.skipped };
}

function describe(context, method, path, item, operation) {
  const parameters = readParameters(context.root, item, operation);
  const sampled = sampleParameters(context, parameters);
  const bodies = method === 'GET' ? [] : listBodies(context, operation, parameters);
  const responses = listResponses(context, operation);
  if ([sampled, bodies, responses].includes(null)) return null;
  const given = [...bodies, ...responses].filter(({ isGiven }) => isGiven).length;
  return { method, path, given, parameters: sampled, bodies, responses };
}

function readParameters(root, item, operation) {
  const found = new Map();
  for (const written of [...(item.parameters ?? []), ...(operation.parameters ?? [])]) {
    const parameter = follow(root, written);
    if (parameter?.in === 'body') found.set('body', parameter);
    else if (parameter?.name !== undefined) {
      found.set(`${parameter.in} ${parameter.name}`, parameter);
    }
  }
  return [...found.values()];
}

/** Swagger 2.0 has the rules of a value in the parameter itself. */
function schemaOf({ schema, content, name: _name, in: _in, required: _required, ...rules }) {
  return schema ?? Object.values(content ?? {})[0]?.schema ?? rules;
}

/** @returns the parameters that a request needs, or has examples of; `null` if one has no value */
function sampleParameters(context, parameters) {
  const sampled = parameters
    .filter((parameter) => ['path', 'query', 'header'].includes(parameter.in))
    .flatMap((parameter) => sampleParameter(context, parameter));
  return sampled.includes(null) ? null : sampled;
}

function sampleParameter({ root, rules, contradictions, place }, parameter) {
  const schema = schemaOf(parameter);
  const named = Object.values(parameter.examples ?? {}).map((one) => follow(root, one)?.value);
  const own = [parameter.example, parameter['x-example'], follow(root, schema)?.example, ...named];
  const given = own.filter((value) => value !== undefined && value !== '');
  const allowed = given.filter((value) => isAllowedText(rules, schema, value));
  if (allowed.length < given.length) contradictions.push(`${place}: parameter ${parameter.name}`);
  const isNeeded = parameter.required === true || parameter.in === 'path';
  if (allowed.length > 0) return [{ ...parameter, value: allowed[0] }];
  if (!isNeeded) return [];
  const value = sampleValue(root, schema, 'request');
  return [isAllowedText(rules, schema, value) ? { ...parameter, value } : null];
}

/** Whether a value, or a text of it, is allowed: an example may be written as either. */
function isAllowedText(rules, schema, value) {
  return [value, String(value), Number(value)].some(
    (form) => rules.request(schema, form) !== false,
  );
}

/** Returns the path, query and headers of a request. */
export function writeRequest(path, parameters) {
  const [template] = path.split(/[?#]/);
  const byName = new Map(
    parameters.filter((one) => one.in === 'path').map((one) => [one.name, one.value]),
  );
  const target = template
    .split(/\{([^{}]+)\}/)
    .map((part, index) => (index % 2 === 0 ? encodeLiteral(part) : writeSegment(byName.get(part))))
    .join('');
  const query = parameters.filter((one) => one.in === 'query').flatMap(writeQuery);
  const headers = parameters
    .filter(
      (one) =>
        one.in === 'header' &&
        !/^(?:accept|content-type|authorization|cookie|host|content-length|connection|expect|te|upgrade|transfer-encoding|range|trailer|if-.*)$/i.test(
          one.name,
        ),
    )
    .map(({ name, value }) => [name.toLowerCase(), encodeURI(textOf(value))]);
  return {
    target: query.length === 0 ? target : `${target}?${query.join('&')}`,
    headers: Object.fromEntries(headers),
  };
}

function encodeLiteral(text) {
  return /%[0-9a-f]{2}/i.test(text) ? text : encodeURI(text);
}

function writeSegment(value) {
  const text = textOf(value);
  return encodeURIComponent(text === '' ? 'a1' : text);
}

function textOf(value) {
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return String(value ?? 'a1');
}

function writeQuery({ name, value, content, collectionFormat, ...parameter }) {
  const encode = (one) => encodeURIComponent(textOf(one));
  const key = encodeURIComponent(name);
  if (content !== undefined) return [`${key}=${encodeURIComponent(JSON.stringify(value))}`];
  const { style = 'form' } = parameter;
  const {
    explode = collectionFormat === undefined ? style === 'form' : collectionFormat === 'multi',
  } = parameter;
  if (Array.isArray(value)) {
    if (explode) return value.map((one) => `${key}=${encode(one)}`);
    return [`${key}=${value.map(encode).join(SEPARATORS[style] ?? ',')}`];
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value);
    if (style === 'deepObject') {
      return members.map(
        ([member, one]) => `${key}%5B${encodeURIComponent(member)}%5D=${encode(one)}`,
      );
    }
    if (explode)
      return members.map(([member, one]) => `${encodeURIComponent(member)}=${encode(one)}`);
    return [`${key}=${members.flat().map(encode).join(',')}`];
  }
  return [`${key}=${encode(value)}`];
}

function listBodies(context, operation, parameters) {
  const { root } = context;
  const body = follow(root, operation.requestBody);
  const list = (content) => {
    const bodies = Object.entries(content).flatMap(([type, media]) =>
      describeMedia(context, type, media, 'request'),
    );
    return bodies.length === 0 ? null : bodies;
  };
  if (body !== undefined) {
    const bodies = list(body.content ?? {});
    return body.required === true ? bodies : [...(bodies ?? []), { type: null }];
  }
  const own = parameters.find((one) => one.in === 'body');
  const types = operation.consumes ?? root.consumes ?? ['application/json'];
  const all = (schema) => Object.fromEntries(types.map((type) => [type, { schema }]));
  if (own !== undefined) return list(all(own.schema));
  return parameters.some((one) => one.in === 'formData') ? list(all({ type: 'string' })) : [];
}

/** @returns the responses with a status of success; `null` if the document has none with a value */
function listResponses(context, operation) {
  const { root } = context;
  const responses = Object.entries(operation.responses ?? {});
  const successes = responses.filter(([status]) => /^2/.test(status));
  const hasOthers = responses.some(([status]) => /^[123]/.test(status));
  const used = hasOthers ? successes : responses.filter(([status]) => status === 'default');
  const found = used.flatMap(([status, written]) => {
    const response = follow(root, written) ?? {};
    const code = /^\d+$/.test(status) ? Number(status) : 200;
    const content = Object.entries(response.content ?? contentOf(root, operation, response));
    if (content.length === 0 || code === 204 || code === 205) return [{ status: code, type: null }];
    return content.flatMap(([type, media]) =>
      describeMedia(context, type, media, 'response').map((body) => ({ status: code, ...body })),
    );
  });
  return found.length === 0 ? null : found;
}

/** The content of a response of Swagger 2.0. */
function contentOf(root, { produces }, { schema, examples = {} }) {
  if (schema === undefined) return {};
  const types = produces ?? root.produces ?? ['application/json'];
  return Object.fromEntries(types.map((type) => [type, { schema, example: examples[type] }]));
}

/** One value for each example, at most three, or one of the schema. */
function describeMedia(context, type, written, direction) {
  const { root, contradictions, place } = context;
  // Some documents have other members beside the media types.
  if (!type.includes('/')) return [];
  const { schema, example, examples } = follow(root, written) ?? {};
  if (/event-stream|ndjson|jsonl|json-seq/i.test(type)) {
    return [{ type, bytes: EVENTS[type] ?? '{"a":1}\n', isEvents: true }];
  }
  if (!JSON_TYPE.test(type) && !/^(?:\*|application)\/\*$/.test(type)) {
    return [{ type: concrete(type), bytes: `bytes of ${type}` }];
  }
  const allows = (value) => context.rules[direction](schema, value) !== false;
  const named = Object.values(examples ?? {}).map((one) => follow(root, one)?.value);
  const given = [example, ...named].filter((value) => value !== undefined).map(readText);
  const allowed = given.filter(allows).slice(0, 3);
  if (given.some((value) => !allows(value))) {
    contradictions.push(`${place}: example of a ${direction}`);
  }
  const values = allowed.length > 0 ? allowed : [sampleValue(root, schema, direction)];
  return values.filter(allows).map((value) => ({
    type: type.includes('*') ? 'application/json' : type,
    value,
    schema,
    bytes: JSON.stringify(value),
    isGiven: allowed.length > 0,
  }));
}

/** Some documents have the text of a JSON value as its example. */
function readText(value) {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

const EVENTS = { 'text/event-stream': 'data: {"a":1}\n\n' };

function concrete(type) {
  if (/^multipart\/form-data/i.test(type)) return 'multipart/form-data; boundary=b';
  return type.replace(/^\*\/\*/, 'application/octet-stream').replace('/*', '/plain');
}
