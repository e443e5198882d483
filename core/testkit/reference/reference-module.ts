import type { Manifest } from '../../contract/index.js';
import { readBehaviour } from './behaviours.js';
import { REFERENCE_MANIFEST } from './reference-manifest.js';
import type { ReferenceAnswer, ReferenceRequest } from './reference-protocol.js';

/**
 * The provider that the clauses talk to. A transport serves it: it hands on what arrives and sends what
 * comes back, and judges neither. What it answers is chosen by the path alone, so it may also run in
 * another process or thread.
 */
export interface ReferenceModule {
  /** What the provider answers when it is asked for its manifest. */
  readonly manifest: Manifest;
  /**
   * Called once a request, many at a time. May never resolve (that is one of its behaviours): the
   * transport must be able to close nevertheless. Never rejects.
   */
  answer(request: ReferenceRequest): Promise<ReferenceAnswer>;
}

/** A reference module with a memory of its own. */
export function createReferenceModule(): ReferenceModule {
  const seen = new Map<string, number>();
  let configuration = new Uint8Array(Buffer.from('null'));
  return {
    manifest: REFERENCE_MANIFEST,
    answer: async (request) => {
      const url = new URL(request.target, 'http://reference');
      const marker = url.searchParams.get('marker');
      if (marker !== null) seen.set(marker, (seen.get(marker) ?? 0) + 1);
      return readBehaviour(request, url, {
        countOf: (asked) => seen.get(asked) ?? 0,
        configuration: () => configuration,
        configure: (bytes) => {
          configuration = new Uint8Array(bytes);
        },
      });
    },
  };
}
