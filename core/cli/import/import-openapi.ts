import { ConfigError } from '../../errors.js';
import { parseHostUrl } from '../client/host-options.js';
import type { Conversion } from './conversion.js';
import { convertDocument } from './convert-document.js';
import type { ImportFiles } from './import-files.js';
import { parseOpenApi } from './parse-openapi.js';
import { readDocuments } from './read-documents.js';
import { listServerPaths } from './server-paths.js';

const ENDPOINT = /^https?:\/\/[^/?#@\\\s]+(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)*$/i;

/** @throws ConfigError */
export function parseEndpoint(endpoint: string | undefined): string {
  if (endpoint === undefined)
    throw new ConfigError("required option '--endpoint <url>' not specified");
  const url = parseHostUrl(endpoint, '--endpoint');
  if (!ENDPOINT.test(url) || /%(?![0-9a-f]{2})/i.test(url)) {
    throw new ConfigError('--endpoint has a path that a request cannot have');
  }
  return url;
}

/** Converts a description of OpenAPI or Swagger. */
export async function importOpenApi(
  source: string,
  files: ImportFiles,
  { module, endpoint }: { readonly module: string; readonly endpoint: string },
): Promise<Conversion> {
  const { root, unread } = await readDocuments(source);
  const document = parseOpenApi(root, unread);
  return {
    ...convertDocument(document, module),
    descriptor: files.createDescriptor(endpoint, document),
    config: { endpoints: [endpoint] },
    replaces: ['endpoints'],
    files: {},
    notes: noteServers(listServerPaths(document), endpoint),
  };
}

function noteServers(paths: readonly string[], endpoint: string): string[] {
  const [path] = paths;
  if (path === undefined || paths.some((suffix) => endpoint.endsWith(suffix))) return [];
  return [`the document has its paths below ${path}: --endpoint has another path`];
}
