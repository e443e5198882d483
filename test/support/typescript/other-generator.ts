import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const FIXTURE = fileURLToPath(new URL('../../../../test/support/typed-client/', import.meta.url));

interface OpenApiTypescript {
  default(document: object): Promise<unknown>;
  astToString(ast: unknown): string;
}

/** The types that openapi-typescript makes of a document. */
export async function generateOtherTypes(document: unknown): Promise<string> {
  const path = createRequire(join(FIXTURE, 'package.json')).resolve('openapi-typescript');
  const url = pathToFileURL(path.replace(/\.cjs$/, '.mjs')).href;
  const { default: generate, astToString } = (await import(url)) as OpenApiTypescript;
  return astToString(await generate(document as object));
}

/** Uses those types with openapi-fetch. */
export const OTHER_CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

export async function run(url: string, token: string) {
  const client = createClient<paths>({ baseUrl: url, headers: { authorization: 'Bearer ' + token } });
  const path = '/modules/acme%2Fshop/http/items/{id}';
  const { data } = await client.GET(path, { params: { path: { id: '7' } } });
  const { error } = await client.GET(path, {
    params: { path: { id: '7' } },
    headers: { authorization: 'Bearer dev-service:bob' },
  });
  return [data?.data.name, error?.code];
}
`;
