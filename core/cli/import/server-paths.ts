import { asList, asObject, asText, type JsonObject } from '../json-value.js';
import type { OpenApiDocument } from './openapi-document.js';

/** The paths below which the servers of the document have its paths; empty for a root. */
export function listServerPaths({ root }: OpenApiDocument): string[] {
  return asList(root['servers']).flatMap((server) => {
    const { url, variables } = asObject(server);
    const path = asText(url)?.replace(ORIGIN, '');
    if (path === undefined) return [];
    const paths = fillVariables(path, asObject(variables));
    return paths.flatMap((filled) => (filled.includes('{') ? [] : filled.replace(/\/+$/, '')));
  });
}

const ORIGIN = /^(?:[a-z][a-z0-9+.-]*|\{[^{}]*\}):\/\/[^/]*/i;

/** Returns the path with each value that its variables may have. */
function fillVariables(path: string, variables: JsonObject): string[] {
  return Object.entries(variables).reduce(
    (paths, [name, variable]) => {
      const { default: usual, enum: allowed } = asObject(variable);
      const values = new Set([usual, ...asList(allowed)].flatMap((value) => asText(value) ?? []));
      if (!path.includes(`{${name}}`) || values.size === 0) return paths;
      const filled = [...values].flatMap((value) => {
        return paths.map((one) => one.replaceAll(`{${name}}`, () => value));
      });
      return filled.slice(0, MAX_SERVER_PATHS);
    },
    [path],
  );
}

/** Sufficient for the versions and regions of real services. */
const MAX_SERVER_PATHS = 100;
