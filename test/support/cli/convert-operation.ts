import { convertDocument } from '../../../core/cli/import/convert-document.js';
import { parseOpenApi } from '../../../core/cli/import/parse-openapi.js';

interface Parts {
  readonly paths: object;
  readonly components?: object;
  readonly security?: readonly object[];
}

export function convert(
  parts: Parts,
  openapi = '3.0.3',
  module = 'shop',
): ReturnType<typeof convertDocument> {
  const info = { title: 'Shop', version: '1.2.3' };
  return convertDocument(parseOpenApi({ openapi, info, ...parts }), module);
}

export const OK = { 200: { description: 'ok' } };

/** The only route of a document with one operation. */
export function convertOne(operation: object, method = 'get', path = '/items') {
  const { manifest, unmapped } = convert({
    paths: { [path]: { [method]: { responses: OK, ...operation } } },
  });
  const listed = unmapped.map(({ place, part, reason }) => `${place}: ${part}: ${reason}`);
  return { route: manifest.http_routes[0], listed };
}

export const jsonBody = (schema: object, overrides: object = {}) => ({
  requestBody: { content: { 'application/json': { schema } }, ...overrides },
});

export const jsonResponse = (schema: object) => ({
  responses: { 200: { description: 'ok', content: { 'application/json': { schema } } } },
});
