import type { LiveRoute } from '../../../modules/live-module.js';
import { webSocketForm } from '../../websocket/websocket-form.js';
import { bytesForm } from './bytes.js';
import { envelopeForm } from './envelope.js';
import { eventsForm } from './events.js';
import { rawForm } from './raw.js';
import type { ReadCall, ResponseForm } from './response-form.js';
import { heldFormOf, jsonForm } from './streamed-json.js';

/** A route has the first one that fits. */
const FORMS: readonly ResponseForm[] = [
  webSocketForm,
  eventsForm,
  bytesForm,
  jsonForm,
  rawForm,
  envelopeForm,
];

const forms = new WeakMap<LiveRoute, ResponseForm>();

/**
 * The form of the responses of a route, which never changes. A client of HTTP/1.0 cannot detect a
 * truncated body, so its responses are buffered.
 */
export function findForm({
  matched: { module, match },
  request,
}: Pick<ReadCall, 'matched' | 'request'>): ResponseForm {
  if (request.isHttp10) return heldFormOf(module);
  const existing = forms.get(match.value);
  if (existing !== undefined) return existing;
  const form = FORMS.find(({ fits }) => fits(match.value, module)) ?? envelopeForm;
  forms.set(match.value, form);
  return form;
}
