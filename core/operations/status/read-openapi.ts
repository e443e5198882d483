import { HostError } from '../../errors.js';
import { createToken, inject, injectable } from '../../injection.js';
import type { BuiltDocument } from '../../openapi/create-document.js';
import type { DocumentCache, ShowsRoute } from '../../openapi/document-cache.js';
import { authorize, mayCallRoute } from '../authorization.js';
import { type Handler, JSON_TYPE, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';

export const DOCUMENTS = createToken<DocumentCache>('openapi-documents');

export interface OpenApiQuery {
  /** `null`: all modules. */
  readonly modules: ReadonlySet<string> | null;
  /** Whether to show only what the caller may call. */
  readonly callable: boolean;
}

const CACHE_CONTROL = 'private, no-cache';

/** `GET /openapi.json`: the routes that are served now. */
@injectable()
export class ReadOpenApi implements Handler<OpenApiQuery> {
  readonly #documents: DocumentCache;

  constructor(@inject(DOCUMENTS) documents: DocumentCache) {
    this.#documents = documents;
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

  async #read({ modules, callable }: OpenApiQuery, request: CallerRequest): Promise<BuiltDocument> {
    if (modules === null && !callable) return this.#documents.readWhole();
    const { actor } = request;
    const shows: ShowsRoute = ({ descriptor }, { capability }) =>
      !callable || mayCallRoute(actor, descriptor.callers, capability);
    const document = await this.#documents.readPart(modules, shows);
    if (document !== null) return document;
    throw new HostError('not_found', 'no module of this name serves anything', {
      errors: [{ field: 'module', reason: 'not served' }],
      nextActions: ['see GET /openapi.json without a module for all names'],
    });
  }
}

/** Weak comparison (RFC 9110, section 13.1.2). */
function matchesTag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
