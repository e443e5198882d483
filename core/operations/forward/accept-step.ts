import { HostError } from '../../errors.js';
import { namesMediaType } from '../../lib/media-type.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { decide, unknown } from '../explain/step-report.js';
import type { CallStep } from './call-steps.js';

/**
 * Rejects a caller that does not accept events, because it could not read them. In raw mode the
 * provider decides.
 */
export const acceptStep: CallStep = {
  name: 'accept',
  appliesTo: ({ stream }, { descriptor }) =>
    stream !== null && descriptor.responses.mode === 'envelope',
  run({ matched: { match }, request }) {
    assertAsksForStream(match.value, request.method, request.headers.get('accept'));
  },
  explain({ matched: { match }, request }) {
    const { mediaType = '' } = match.value.stream ?? {};
    const report = decide(() => assertAsksForStream(match.value, request.method, mediaType), '');
    if (report.outcome === 'fail' || match.value.stream?.isOptional) return report;
    return unknown(`the route streams events: without accept: ${mediaType} it is 406`);
  },
};

/** @throws HostError 404 for HEAD, 406. */
function assertAsksForStream(route: LiveRoute, method: string, accept: string | undefined): void {
  const { stream } = route;
  if (stream === null) return;
  if (method === 'HEAD') {
    throw new HostError('not_found', 'the route streams events, which have no HEAD', {
      nextActions: [`send ${route.method} with accept: ${stream.mediaType}`],
    });
  }
  if (stream.isOptional || namesMediaType(accept, stream.mediaType)) return;
  throw new HostError('not_acceptable', 'the route answers with a stream of events', {
    errors: [{ field: 'accept', reason: `expected ${stream.mediaType}` }],
    nextActions: [`send accept: ${stream.mediaType}`],
  });
}
