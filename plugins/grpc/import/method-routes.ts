import type { DescMessage, DescMethod, DescService } from '@bufbuild/protobuf';
import type { LeftOut, ManifestRoute } from '../../../core/contract/index.js';
import { HTTP_BODY, isSingle } from '../bound-route.js';
import { findField, findFieldPath } from '../message-fields.js';
import { readComment } from './comments.js';
import { type HttpBinding, readHttpBindings } from './http-bindings.js';
import { convertTemplate } from './http-template.js';
import type { MessageSchemas } from './message-schemas.js';

const EMPTY = 'google.protobuf.Empty';
const FIELD_MASK = 'google.protobuf.FieldMask';
/** `idempotency_level` of a method. */
const NO_SIDE_EFFECTS = 1;
const IDEMPOTENT = 2;
const BODY_METHODS: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

interface RouteOptions {
  readonly schemas: MessageSchemas;
  readonly leftOut: LeftOut[];
  /** Default: the host names it after the service. */
  readonly nameCapability?: (method: DescMethod) => string;
}

/** Makes routes of all methods; what cannot be carried is added to `leftOut`. */
export function createRoutes(
  services: readonly DescService[],
  { schemas, leftOut, nameCapability }: RouteOptions,
): ManifestRoute[] {
  const ids = new Set<string>();
  const shapes = new Set<string>();
  return services.flatMap((service) =>
    service.methods.flatMap((method) => {
      const place = `${service.typeName}/${method.name}`;
      if (method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming') {
        leftOut.push({ place, reason: 'a stream of requests is not carried' });
        return [];
      }
      const create = (binding: HttpBinding) =>
        createRoute({ service, method, place, binding, schemas, leftOut, shapes }) ?? [];
      const bound = readHttpBindings(method).flatMap(create);
      const all =
        bound.length === 0
          ? [{ method: 'POST', path: `/${place}`, body: '*' }].flatMap(create)
          : bound;
      return all.map((route) => {
        const operation_id = nameOperation(service, method, ids);
        const capability = nameCapability?.(method);
        const named = { ...route, ...(capability !== undefined && { capability }) };
        return { ...named, operation: { operation_id, ...route.operation } } as ManifestRoute;
      });
    }),
  );
}

/** The name of the method if it is unique, otherwise with its service and a number. */
function nameOperation({ name }: DescService, method: DescMethod, ids: Set<string>): string {
  const candidates = [method.name, `${name}_${method.name}`];
  for (let count = 2; count < 1_000; count += 1) candidates.push(`${name}_${method.name}_${count}`);
  const id = candidates.find((candidate) => !ids.has(candidate)) ?? method.name;
  ids.add(id);
  return id;
}

interface RouteParts {
  readonly service: DescService;
  readonly method: DescMethod;
  readonly place: string;
  readonly binding: HttpBinding;
  readonly schemas: MessageSchemas;
  readonly leftOut: LeftOut[];
  /** The shapes of the routes so far. */
  readonly shapes: Set<string>;
}

function createRoute(parts: RouteParts) {
  const { service, method, place, binding, schemas, leftOut, shapes } = parts;
  const template = convertTemplate(binding.path);
  if ('reason' in template) {
    leftOut.push({
      place: `${place} (${binding.method} ${binding.path})`,
      reason: template.reason,
    });
    return null;
  }
  const { input, output, proto } = method;
  const shown = `${binding.method} ${template.path}`;
  const unfit = template.fields.find((name) => {
    const field = findFieldPath(input, name)?.at(-1);
    return field === undefined || !isSingle(field);
  });
  if (unfit !== undefined) {
    const reason = `${unfit} is not a field with a single value`;
    leftOut.push({ place: `${place} (${shown})`, reason });
    return null;
  }
  const shape = shown.replaceAll(/\{[^{}]*?(\.\.\.)?\}/g, '{$1}');
  if (shapes.has(shape)) {
    leftOut.push({ place: `${place} (${shown})`, reason: 'another method has the same path' });
    return null;
  }
  const hasBody = BODY_METHODS.has(binding.method) || binding.body !== '';
  const level = proto.options?.idempotencyLevel;
  const result = binding.responseBody === '' ? null : findField(output, binding.responseBody ?? '');
  const outputSchema = result ? schemas.describeField(result) : schemas.describe(output);
  const isBytes = (result?.message ?? output).typeName === HTTP_BODY;
  const bodyParts = hasBody ? describeBody(input, binding, schemas) : {};
  if (binding.method === 'GET' && bodyParts.body === 'bytes') {
    leftOut.push({ place: shown, reason: 'a body of GET with bytes is not carried' });
    return null;
  }
  const query = schemas.describeQuery(input, [
    ...template.fields,
    ...(binding.body === '' ? [] : [binding.body]),
  ]);
  for (const field of input.fields) {
    if (field.message?.typeName !== FIELD_MASK || binding.method !== 'PATCH') continue;
    leftOut.push({ place: shown, part: field.name, reason: 'a field mask is not filled in' });
  }
  const { summary, description } = readComment(method);
  shapes.add(shape);
  return {
    method: binding.method,
    path: template.path,
    tags: [service.name],
    ...(summary !== '' && { summary }),
    ...(description !== '' && { description }),
    ...(proto.options?.deprecated === true && { deprecated: true }),
    operation: {
      ...((level === NO_SIDE_EFFECTS || level === IDEMPOTENT) && { idempotency: 'idempotent' }),
      ...(level === NO_SIDE_EFFECTS && binding.method !== 'GET' && { reads: true }),
      ...bodyParts,
      ...(query !== null && { query_schema: query }),
      ...(isBytes && { response: 'bytes' }),
      ...(!isBytes && method.methodKind === 'server_streaming' && { stream: 'ndjson' }),
      ...(!isBytes && method.methodKind === 'unary' && { output_schema: outputSchema }),
      grpc: describeCall(place, binding, template.bind),
    },
  };
}

/** How the body is checked. Without a field for it there is none. */
function describeBody(
  input: DescMessage,
  { method, body }: HttpBinding,
  schemas: MessageSchemas,
): { readonly body?: string; readonly input_schema?: object } {
  if (body === '') return { body: 'none' };
  const field = body === '*' ? null : (findFieldPath(input, body)?.at(-1) ?? null);
  const message = field === null ? input : field.message;
  if (message?.typeName === HTTP_BODY) return { body: 'bytes' };
  if (message?.typeName === EMPTY) return { body: 'optional' };
  return {
    ...(!BODY_METHODS.has(method) && { body: 'optional' }),
    input_schema: field === null ? schemas.describeInput(input) : schemas.describeInputField(field),
  };
}

function describeCall(
  method: string,
  { method: httpMethod, body, responseBody = '' }: HttpBinding,
  bind: Readonly<Record<string, string>>,
): string | object {
  const others = {
    ...(body !== (BODY_METHODS.has(httpMethod) ? '*' : '') && { body }),
    ...(responseBody !== '' && { response_body: responseBody }),
    ...(Object.keys(bind).length > 0 && { bind }),
  };
  return Object.keys(others).length === 0 ? method : { method, ...others };
}
