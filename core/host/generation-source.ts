import type { Generation } from '../modules/live-module.js';

/** Where operations read the generation that is live now: once a request, then kept. */
export interface GenerationSource {
  readonly current: Generation;
}
