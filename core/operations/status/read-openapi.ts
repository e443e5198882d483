import type { Mount } from '../../descriptor/mounts.js';
import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import type { MountSource } from '../../modules/mount-table.js';
import type { BuiltDocument } from '../../openapi/create-document.js';
import { DocumentCache, type ShowsRoute } from '../../openapi/document-cache.js';
import { authorize, mayCallRoute } from '../authorization.js';
import { type Handler, JSON_TYPE, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';

export interface OpenApiQuery {
  /** `null` for all modules. */
  readonly modules: ReadonlySet<string> | null;
  /** Whether to include only routes that the caller may call. */
  readonly callable: boolean;
  /** The mount of the single named module; `null` for the own paths of the modules. */
  readonly mount: Mount | null;
}

const CACHE_CONTROL = 'private, no-cache';

/** Handles `GET /openapi.json`: describes the currently served routes. */
@injectable(DocumentCache, ModuleRegistry)
export class ReadOpenApi implements Handler<OpenApiQuery> {
  readonly #documents: DocumentCache;
  readonly #mounts: MountSource;

  constructor(documents: DocumentCache, mounts: MountSource) {
    this.#documents = documents;
    this.#mounts = mounts;
  }

  async execute(query: OpenApiQuery, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, { kind: 'authenticated' });
    const { pieces, etag } = await this.#read(query, request);
    const isKnown = matchesTag(request.headers.get('if-none-match'), etag);
    return Reply.forwarded(authorization, {
      status: isKnown ? 304 : 200,
      pieces: isKnown ? [] : pieces,
      contentType: isKnown ? null : JSON_TYPE,
      headers: ['etag', etag],
      cacheControl: CACHE_CONTROL,
    });
  }

  async #read(
    { modules, callable, mount }: OpenApiQuery,
    request: CallerRequest,
  ): Promise<BuiltDocument> {
    if (modules === null && !callable) return this.#documents.readWhole();
    const { actor } = request;
    const shows: ShowsRoute = ({ descriptor }, route) =>
      !callable || mayCallRoute(actor, descriptor.callers, route);
    const [module = ''] = modules ?? [];
    const matchingMount = mount && this.#findMount(module, mount);
    const document = await this.#documents.readPart(modules, shows, matchingMount);
    if (document !== null) return document;
    throw new HostError('not_found', 'no module of this name serves anything', {
      errors: [{ field: 'module', reason: 'not served' }],
      nextActions: ['see GET /openapi.json without a module for all names'],
    });
  }

  /** Finds the mount in the spelling of the descriptor. */
  #findMount(module: string, mount: Mount): Mount {
    const matchingMount = this.#mounts.mounts.findMount(module, mount);
    if (matchingMount !== null) return matchingMount;
    throw new HostError('not_found', 'the module has no such mount', {
      errors: [{ field: 'mount', reason: 'not a mount of the module' }],
      nextActions: ['see x-modgate-mounts in GET /openapi.json for all mounts'],
    });
  }
}

/** Weak comparison (RFC 9110, section 13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
