import { HostError } from '../../errors.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import type { MountSource } from '../../modules/mount-table.js';
import { type BuiltDocument, type DocumentForm, VIEWS } from '../../openapi/create-document.js';
import { DocumentCache, type ShowsRoute } from '../../openapi/document-cache.js';
import { mayCallRoute } from '../authorization.js';
import { createQueryError, moduleParameter } from '../query.js';
import { JSON_TYPE, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { defineResource } from '../resource.js';

interface OpenApiQuery extends DocumentForm {
  /** `null` for all modules. */
  readonly modules: ReadonlySet<string> | null;
  /** Whether to include only routes that the caller may call. */
  readonly callable: boolean;
}

const CACHE_CONTROL = 'private, no-cache';

const CALLABLE = new Map([
  ['true', true],
  ['false', false],
]);

const MOUNT_USAGE = 'use module and mount, and host where the mount has one';

/** Describes the currently served routes. */
export const OPENAPI = defineResource({
  text: 'the routes that are served now, as [OpenAPI 3.1](../call/routes.md). `?module=` (may be repeated) limits it to modules, `?callable=true` to what the caller may call. `?view=client` describes responses without the envelope, as [typed clients](../call/client.md) return them. `etag`, `cache-control: private, no-cache`; `if-none-match` → 304',
  query: {
    module: { ...moduleParameter, isList: true },
    callable: {
      expected: 'true or false',
      parse: (text: string) => CALLABLE.get(text) ?? null,
      fallback: false,
    },
    mount: {
      expected: 'the path of a mount',
      parse: (text: string) => (text.startsWith('/') ? text : null),
    },
    host: { expected: 'the host of a mount', parse: (text: string) => text || null },
    view: {
      expected: VIEWS.join(' or '),
      parse: (text: string) => VIEWS.find((view) => view === text) ?? null,
    },
  },
  needs: [DocumentCache, ModuleRegistry],
  answer: async ({ query, authorization, request }, documents, mounts) => {
    const { module: modules, callable, mount: path, host, view } = query;
    if (path === null && host !== null)
      throw createQueryError('host', 'only with mount', MOUNT_USAGE);
    if (path !== null && modules?.length !== 1) {
      throw createQueryError('mount', 'only with one module', MOUNT_USAGE);
    }
    const mount = path === null ? null : { path, ...(host !== null && { host }) };
    const wanted = { modules: modules && new Set(modules), callable, mount, view };
    const { pieces, etag } = await readDocument(wanted, request, documents, mounts);
    const isKnown = matchesTag(request.headers.get('if-none-match'), etag);
    return Reply.forwarded(authorization, {
      status: isKnown ? 304 : 200,
      pieces: isKnown ? [] : pieces,
      contentType: isKnown ? null : JSON_TYPE,
      headers: ['etag', etag],
      cacheControl: CACHE_CONTROL,
    });
  },
});

async function readDocument(
  { modules, callable, mount, view }: OpenApiQuery,
  { actor }: CallerRequest,
  documents: DocumentCache,
  { mounts }: MountSource,
): Promise<BuiltDocument> {
  if (modules === null && !callable && view === null) return documents.readWhole();
  const shows: ShowsRoute = ({ descriptor }, route) =>
    !callable || mayCallRoute(actor, descriptor.callers, route);
  const [module = ''] = modules ?? [];
  // In the spelling of the descriptor.
  const knownMount = mount && mounts.findMount(module, mount);
  if (mount !== null && knownMount === null) {
    throw new HostError('not_found', 'the module has no such mount', {
      errors: [{ field: 'mount', reason: 'not a mount of the module' }],
      nextActions: ['see x-modgate-mounts in GET /openapi.json for all mounts'],
    });
  }
  const document = await documents.readPart(modules, shows, { mount: knownMount, view });
  if (document !== null) return document;
  throw new HostError('not_found', 'no module of this name serves anything', {
    errors: [{ field: 'module', reason: 'not served' }],
    nextActions: ['see GET /openapi.json without a module for all names'],
  });
}

/** Weak comparison (RFC 9110, section 13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
