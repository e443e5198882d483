import type { LiveModule, LiveRoute } from '../../../modules/live-module.js';
import type { OpenStream } from '../../../provider/open-streams.js';
import type { ParseResponse, StreamedResponse } from '../../../provider/provider-call.js';
import type { Reply } from '../../reply.js';
import type { CallerRequest } from '../../request.js';
import type { RouteCall } from '../route-call.js';

export interface ReadCall
  extends Pick<RouteCall, 'matched' | 'credentialHeaders' | 'webSocketCall'> {
  readonly request: Pick<
    CallerRequest,
    'actor' | 'client' | 'method' | 'headers' | 'signal' | 'facts' | 'isHttp10' | 'mask'
  >;
}

/** A response of the provider for callers. */
export interface ForwardedResponse {
  /** It may differ from the form of the route, such as for an error. */
  readonly form: ResponseForm;
}

/** A form of responses, chosen once for each route. */
export interface ResponseForm<Response extends ForwardedResponse = ForwardedResponse> {
  /** Whether the responses of a route may have it. */
  fits(route: LiveRoute, module: LiveModule): boolean;
  /** The streaming of the response; `null` to buffer it. */
  stream(route: LiveRoute, module: LiveModule): StreamedResponse | null;
  /**
   * Reads a response of this form, and leaves any other one to the form that it has. Returns a
   * promise only if that takes long.
   * @throws ProviderStatus, ProviderFailure.
   */
  read(
    call: ReadCall,
    ...response: Parameters<ParseResponse<unknown>>
  ): ForwardedResponse | Promise<ForwardedResponse>;
  /**
   * @param admitted the stream that was counted before the call; `null` for none
   * @throws HostError 429, 502.
   */
  reply(call: RouteCall, response: Response, admitted: OpenStream | null): Reply;
}
