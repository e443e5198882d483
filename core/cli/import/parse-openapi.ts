import { CommandError } from '../command-error.js';
import { isObject, isTooDeep, type JsonObject, MAX_DEPTH } from '../json-value.js';
import { convertSwagger } from './convert-swagger.js';
import type { OpenApiDocument } from './openapi-document.js';

/** YAML reads `swagger: 2.0` as a number. */
const SWAGGER: ReadonlySet<unknown> = new Set(['2.0', 2]);

/**
 * Converts a document of Swagger 2.0 to OpenAPI 3.0.
 * @throws CommandError unless the document is Swagger 2.0, or OpenAPI 3.0 to 3.2.
 */
export function parseOpenApi(
  value: unknown,
  unread: OpenApiDocument['unread'] = new Map(),
): OpenApiDocument {
  if (!isObject(value)) throw new CommandError('the document is not OpenAPI: expected a mapping');
  if (isTooDeep(value)) {
    throw new CommandError(`the document is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (SWAGGER.has(value['swagger'])) return { version: '3.0', root: convertSwagger(value), unread };
  return { version: readVersion(value), root: value, unread };
}

function readVersion(root: JsonObject): OpenApiDocument['version'] {
  const { openapi, swagger } = root;
  // YAML reads `openapi: 3.0` as a number.
  const [, minor] = /^3\.([012])(?:\.|$)/.exec(openapi === 3 ? '3.0' : String(openapi)) ?? [];
  if (minor !== undefined) return minor === '0' ? '3.0' : '3.1';
  const documentVersion = [openapi, swagger].find(
    (one) => typeof one === 'string' || typeof one === 'number',
  );
  if (documentVersion === undefined) {
    throw new CommandError("the document is not OpenAPI: it has no member 'openapi'");
  }
  const name = openapi === undefined ? 'Swagger' : 'OpenAPI';
  const shortened = String(documentVersion).slice(0, 20);
  throw new CommandError(
    `${name} ${shortened} is not supported: use Swagger 2.0, OpenAPI 3.0 to 3.2`,
  );
}
