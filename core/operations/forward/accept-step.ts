import { HostError } from '../../errors.js';
import { namesMediaType } from '../../lib/media-type.js';
import type { LiveRoute, RoutedModule } from '../../modules/live-module.js';
import type { ExplainedRouteCall } from '../explain/explained-request.js';
import { decide, unknown } from '../explain/step-report.js';
import type { ReportedStep } from '../step.js';
import type { RouteCall } from './route-call.js';

/**
 * Rejects a caller that does not accept events, because it could not read them. In raw mode the
 * provider decides.
 */
export const acceptStep: ReportedStep<RouteCall, ExplainedRouteCall> = {
  name: 'accept',
  run({ matched: { match, module }, request }) {
    if (match.value.isPlain) return;
    assertAsksForStream(match.value, module, request.method, request.headers.get('accept'));
  },
  explain({ route, module, request }) {
    if (route === null || module === null || !requiresAccept(route.value, module)) return undefined;
    const { mediaType = '' } = route.value.stream ?? {};
    const report = decide(
      () => assertAsksForStream(route.value, module, request.method, mediaType),
      '',
    );
    if (report.outcome === 'fail') return report;
    return unknown(`the route streams events: without accept: ${mediaType} it is 406`);
  },
};

function requiresAccept({ stream }: LiveRoute, { descriptor }: RoutedModule): boolean {
  return stream !== null && descriptor.responses.mode === 'envelope';
}

/** @throws HostError 404 for HEAD, 406. */
function assertAsksForStream(
  route: LiveRoute,
  module: RoutedModule,
  method: string,
  accept: string | undefined,
): void {
  const { stream } = route;
  if (stream === null || !requiresAccept(route, module)) return;
  if (method === 'HEAD') {
    throw new HostError('not_found', 'the route streams events, which have no HEAD', {
      nextActions: [`send ${route.method} with accept: ${stream.mediaType}`],
    });
  }
  if (namesMediaType(accept, stream.mediaType)) return;
  throw new HostError('not_acceptable', 'the route answers with a stream of events', {
    errors: [{ field: 'accept', reason: `expected ${stream.mediaType}` }],
    nextActions: [`send accept: ${stream.mediaType}`],
  });
}
