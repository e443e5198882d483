import { asList, asObject, asText, isObject, type JsonObject } from '../json-value.js';
import { CapabilityNames } from './capability-names.js';
import { convertOperation } from './convert-operation.js';
import type { DraftManifest, DraftRoute } from './draft-manifest.js';
import { dropRejectedParts } from './drop-rejected-parts.js';
import { fitManifest } from './fit-manifest.js';
import { follow, type OpenApiDocument } from './openapi-document.js';
import { type UnmappedPart, UnmappedParts } from './unmapped.js';

interface ConvertedDocument {
  /** Passes the rules of the host. */
  readonly manifest: DraftManifest;
  readonly unmapped: readonly UnmappedPart[];
}

/** In the order of their routes. */
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Methods that a route cannot have. */
const OTHER_METHODS: Readonly<Record<string, string>> = {
  head: 'HEAD is served by the GET route',
  options: 'the host has no such routes',
  trace: 'the host has no such routes',
};

/** Converts a document to a manifest that passes `modgate check`, and lists what the manifest does not have. */
export function convertDocument(document: OpenApiDocument, module: string): ConvertedDocument {
  const unmapped = new UnmappedParts();
  const { info, webhooks, paths } = document.root;
  if (webhooks !== undefined) {
    unmapped.add('the document', 'webhooks', 'the host carries calls in one direction');
  }
  const capabilities = new CapabilityNames(module);
  const routes = Object.entries(asObject(paths)).flatMap(([path, value]) =>
    convertItem(path, value, document, unmapped).map((route) => addCapability(route, capabilities)),
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
  };
  dropRejectedParts(manifest, unmapped);
  fitManifest(manifest, unmapped);
  manifest.capabilities = listCapabilities(manifest);
  return { manifest, unmapped: unmapped.list() };
}

function convertItem(
  path: string,
  value: unknown,
  document: OpenApiDocument,
  unmapped: UnmappedParts,
): DraftRoute[] {
  // Extensions of the document stand beside the paths.
  if (!path.startsWith('/')) return [];
  if (isExternal(value)) {
    unmapped.add(path, 'the path', 'it is described in another document');
    return [];
  }
  const item = follow(document, value);
  for (const [method, reason] of Object.entries(OTHER_METHODS)) {
    if (!isObject(item[method])) continue;
    const isCovered = method === 'head' && isObject(item['get']);
    if (!isCovered) unmapped.addOperation(`${method.toUpperCase()} ${path}`, reason);
  }
  return METHODS.flatMap((name): DraftRoute[] => {
    const operation = item[name];
    if (!isObject(operation)) return [];
    const method = name.toUpperCase();
    const route = convertOperation({ document, method, path, item, operation, unmapped });
    return route === null ? [] : [route];
  });
}

function isExternal(item: unknown): boolean {
  const { $ref: reference } = asObject(item);
  return typeof reference === 'string' && !reference.startsWith('#');
}

/** By the first tag, otherwise by the first literal segment of the path. */
function addCapability(route: DraftRoute, capabilities: CapabilityNames): DraftRoute {
  const literal = route.path.split('/').find((segment) => segment !== '' && !segment.includes('{'));
  const tag = route.tags?.[0] ?? literal ?? 'other';
  const { method, path, summary, ...rest } = route;
  return {
    method,
    path,
    capability: capabilities.create(tag, method === 'GET'),
    ...(summary !== undefined && { summary }),
    ...rest,
  };
}

function listCapabilities({ http_routes }: DraftManifest): string[] {
  return [...new Set(http_routes.flatMap(({ capability }) => capability ?? []))].sort();
}

/** What a descriptor may need besides the endpoint: what the document says about servers and credentials. */
export function listServerPaths({ root }: OpenApiDocument): string[] {
  const urls = asList(root['servers']).map((server) => asText(asObject(server)['url']));
  return urls.flatMap((url) => {
    if (url === undefined || url.includes('{')) return [];
    const path = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').replace(/\/+$/, '');
    return path === '' ? [] : [path];
  });
}

/** Whether the document names a scheme that a bearer token in the descriptor can serve. */
export function wantsBearer({ root }: OpenApiDocument): boolean {
  const schemes = Object.values(asObject(asObject(root['components'])['securitySchemes']));
  return schemes.some((scheme) => {
    const { type, scheme: name } = asObject(scheme) as JsonObject;
    return type === 'oauth2' || type === 'openIdConnect' || /^bearer$/i.test(asText(name) ?? '');
  });
}
