import type { BodyPieces } from '../contract/body-pieces.js';
import { HostError } from '../errors.js';
import type { DependencyContainer, InjectionToken } from '../injection.js';
import type { Authorization } from './authorization.js';
import type { AnyListing, Listing } from './listing.js';
import { type Parameters, readQuery, type Values } from './query.js';
import { Reply } from './reply.js';
import type { CallerRequest } from './request.js';

/** A request to a route of the host whose caller has its right. */
export interface ResourceRequest<Request extends CallerRequest = CallerRequest> {
  /** Without the question mark. */
  readonly querystring: string;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** Empty without a body. */
  readonly body: BodyPieces;
  readonly authorization: Authorization;
  readonly request: Request;
}

/** A request with its parsed query. */
export interface ResourceCall<Query, Request extends CallerRequest = CallerRequest>
  extends ResourceRequest<Request> {
  readonly query: Query;
}

export type AnswerRequest = (request: ResourceRequest) => Promise<Reply>;

/** What people read of a feature, or change: the part of a route that does not decide about it. */
export interface Resource {
  /** What it answers, for the reference: Markdown. */
  readonly text: string;
  readonly query: Parameters;
  /** `null` for an answer that is not a list. */
  readonly listing: Listing | null;
  /** Resolves its dependencies, so that a missing one ends the start. */
  bind(container: Pick<DependencyContainer, 'resolve'>): AnswerRequest;
}

type Tokens<Values extends readonly unknown[]> = {
  readonly [Index in keyof Values]: InjectionToken<Values[Index]>;
};

interface Declaration<
  P extends Parameters,
  Needs extends readonly unknown[],
  Request extends CallerRequest,
> {
  readonly text: string;
  /** Without it, a query is ignored. */
  readonly query?: P;
  /** The next action for an invalid query. Default: lists the parameters. */
  readonly usage?: string;
  /** The form of the parameter `id` of the path. */
  readonly ids?: RegExp;
  readonly listing?: AnyListing;
  readonly needs: readonly [...Tokens<Needs>];
  /** @returns an object that is sent as JSON, or a complete reply */
  answer(call: ResourceCall<Values<P>, Request>, ...needs: Needs): object | Promise<object>;
}

export function defineResource<
  const Needs extends readonly unknown[],
  P extends Parameters = Record<never, never>,
  Request extends CallerRequest = CallerRequest,
>(declaration: Declaration<P, Needs, Request>): Resource {
  const { text, query, usage, ids, listing = null, needs, answer } = declaration;
  return {
    text,
    listing: listing as Listing | null,
    query: query ?? {},
    bind: (container) => {
      const resolved = needs.map((token) => container.resolve(token as InjectionToken));
      return async (request) => {
        if (ids !== undefined) assertId(request.params['id'] ?? '', ids);
        const values = query === undefined ? {} : readQuery(request.querystring, query, usage);
        const call = { ...request, query: values } as ResourceCall<Values<P>, Request>;
        const answered = await answer(call, ...(resolved as unknown as Needs));
        return answered instanceof Reply ? answered : Reply.json(request.authorization, answered);
      };
    },
  };
}

/**
 * An id is checked before it reaches the store, which does not take every text.
 * @throws HostError 404 for one that the host never gives.
 */
function assertId(id: string, ids: RegExp): void {
  if (ids.test(id)) return;
  throw new HostError('not_found', 'the path has no id of this host', {
    errors: [{ field: 'id', reason: 'not an id' }],
    nextActions: ['use an id as the host lists it'],
  });
}
