import {
  findAtPath,
  parseReference,
  parsePointer as splitPointer,
} from '../../lib/json/json-pointer.js';
import { CommandError } from '../command-error.js';
import { asObject, isObject, isTooDeep, type JsonObject, MAX_DEPTH } from '../json-value.js';
import { convertSwagger } from './convert-swagger.js';

/** A longer chain of references is a circle. */
const MAX_REFERENCES = 100;

/** YAML reads `swagger: 2.0` as a number. */
const SWAGGER: ReadonlySet<unknown> = new Set(['2.0', 2]);

/** An OpenAPI 3.0 or 3.1 document. */
export interface OpenApiDocument {
  readonly version: '3.0' | '3.1';
  readonly root: JsonObject;
}

type Rooted = Pick<OpenApiDocument, 'root'>;

/**
 * Converts a document of Swagger 2.0 to OpenAPI 3.0.
 * @throws CommandError unless the document is Swagger 2.0, or OpenAPI 3.0 or 3.1.
 */
export function parseOpenApi(value: unknown): OpenApiDocument {
  if (!isObject(value)) throw new CommandError('the document is not OpenAPI: expected a mapping');
  if (isTooDeep(value)) {
    throw new CommandError(`the document is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (SWAGGER.has(value['swagger'])) return { version: '3.0', root: convertSwagger(value) };
  return { version: readVersion(value), root: value };
}

function readVersion(root: JsonObject): OpenApiDocument['version'] {
  const { openapi, swagger } = root;
  const [version] = /^3\.[01](?=\.|$)/.exec(String(openapi)) ?? [];
  if (version === '3.0' || version === '3.1') return version;
  const documentVersion = [openapi, swagger].find(
    (one) => typeof one === 'string' || typeof one === 'number',
  );
  if (documentVersion === undefined) {
    throw new CommandError("the document is not OpenAPI: it has no member 'openapi'");
  }
  const name = openapi === undefined ? 'Swagger' : 'OpenAPI';
  const shortened = String(documentVersion).slice(0, 20);
  throw new CommandError(
    `${name} ${shortened} is not supported: use Swagger 2.0, OpenAPI 3.0 or 3.1`,
  );
}

/** The target of a pointer such as `#/components/schemas/Pet`; `undefined` for none. */
export function findByPointer({ root }: Rooted, pointer: string): unknown {
  const path = parsePointer(pointer);
  return path === null ? undefined : findAtPath(root, path)?.value;
}

/** The keys of a reference, percent-encoded or not; `null` for one to another document. */
export function parsePointer(reference: string): string[] | null {
  const path = parseReference(reference);
  return path === null && reference.startsWith('#/') ? splitPointer(reference.slice(1)) : path;
}

/** Follows references; returns an empty object for a broken one. */
export function followReference(document: Rooted, value: unknown): JsonObject {
  let current = asObject(value);
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    const { $ref: reference } = current;
    if (typeof reference !== 'string') return current;
    current = asObject(findByPointer(document, reference));
  }
  return {};
}
