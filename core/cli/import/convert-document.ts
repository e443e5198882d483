import { asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { METHODS } from '../openapi/read-document.js';
import { addCapability, createCapabilityNames } from './capability-names.js';
import { convertOperation, SECURITY_REASON } from './convert-operation.js';
import { convertSchema } from './convert-schema.js';
import type { DraftManifest, DraftRoute, ImportedManifest } from './draft-manifest.js';
import { finishManifest } from './finish-manifest.js';
import { joinAlternatives } from './join-alternatives.js';
import { mergeRoutes } from './merge-routes.js';
import { follow, followPathItem, type OpenApiDocument } from './openapi-document.js';
import { SharedDefinitions } from './shared-definitions.js';
import { splitDeepSchemas } from './split-deep-schemas.js';
import { type UnmappedPart, UnmappedParts } from './unmapped.js';

interface ConvertedDocument {
  /** A manifest that follows the rules of the host. */
  readonly manifest: ImportedManifest;
  readonly unmapped: readonly UnmappedPart[];
}

const NO_ROUTES = 'the host has no such routes';

const OTHER_METHODS: Readonly<Record<string, string>> = {
  head: 'the host answers HEAD through a GET route, which this path does not have',
  options: NO_ROUTES,
  trace: NO_ROUTES,
  query: NO_ROUTES,
};

/** Converts a document to a manifest that passes `modgate check`, and lists the omitted parts. */
export function convertDocument(document: OpenApiDocument, module: string): ConvertedDocument {
  const unmapped = new UnmappedParts();
  const { info, webhooks, paths, security } = document.root;
  const report = unmapped.at('the document');
  if (webhooks !== undefined) report('webhooks', 'the host carries calls in one direction');
  if (security !== undefined) report('security', SECURITY_REASON);
  const nameCapability = createCapabilityNames(module);
  const shared = new SharedDefinitions(document);
  const allPaths = follow(document, paths);
  if (allPaths.problem !== null) report('paths', `they are ${allPaths.problem}`);
  const converted = Object.entries(allPaths.value).flatMap(([path, value]) => {
    return convertItem(path, value, { document, unmapped, shared });
  });
  const routes = mergeRoutes(converted, unmapped).map((route) =>
    addCapability(route, nameCapability),
  );
  const { version, title } = asObject(info);
  // YAML reads an unquoted version as a number.
  const versionText = asText(typeof version === 'number' ? String(version) : version);
  const summary = asText(title);
  const manifest: DraftManifest = {
    protocol: 'modgate.manifest.v1',
    module_id: module,
    ...(versionText !== undefined && { version: versionText }),
    ...(summary !== undefined && { summary }),
    capabilities: [],
    http_routes: routes,
    schemas: shared.complete(routes, (schema, direction, place) =>
      convertSchema(schema, { document, direction, unmapped, report: unmapped.at(place), shared }),
    ),
  };
  joinAlternatives(manifest, unmapped);
  splitDeepSchemas(manifest);
  return { manifest: finishManifest(manifest, unmapped), unmapped: unmapped.list() };
}

/** An operation that cannot be read: any body and any response. */
const describeAny = (reference: unknown): JsonObject => ({
  requestBody: reference,
  responses: reference,
});

interface DocumentContext {
  readonly document: OpenApiDocument;
  readonly unmapped: UnmappedParts;
  readonly shared: SharedDefinitions;
}

function convertItem(path: string, value: unknown, context: DocumentContext): DraftRoute[] {
  const { document, unmapped } = context;
  // Extensions of the document are among the paths.
  if (path.startsWith('x-')) return [];
  if (!path.startsWith('/')) {
    unmapped.add(path, 'the path', 'a path starts with /');
    return [];
  }
  const { value: item, problem } = followPathItem(document, value);
  if (problem !== null) unmapped.add(path, 'the path', `it is ${problem}`);
  const routes = METHODS.flatMap((name): DraftRoute[] => {
    if (!isObject(item[name])) return [];
    const { value, problem: operationProblem } = follow(document, item[name]);
    const operation = operationProblem === null ? value : describeAny(item[name]);
    const method = name.toUpperCase();
    return [convertOperation({ ...context, method, path, item, operation })];
  });
  for (const [method, reason] of Object.entries(OTHER_METHODS)) {
    if (!isObject(item[method])) continue;
    const isCovered = method === 'head' && routes.some((route) => route.method === 'GET');
    if (!isCovered) unmapped.addOperation(`${method.toUpperCase()} ${path}`, reason);
  }
  for (const method of Object.keys(follow(document, item['additionalOperations']).value)) {
    unmapped.addOperation(`${method} ${path}`, NO_ROUTES);
  }
  return routes;
}
