import type { Manifest } from '../../contract/index.js';
import { respond } from './behaviors.js';
import { REFERENCE_MANIFEST } from './reference-manifest.js';
import type { ReferenceAnswer, ReferenceRequest } from './reference-protocol.js';

/**
 * The provider that the clauses call, served over the transport under test. The transport passes on
 * requests and responses unchanged. The response depends only on the path, so the module may also run
 * in another process or thread.
 */
export interface ReferenceModule {
  /** The manifest of the provider. */
  readonly manifest: Manifest;
  /**
   * Called once per request, concurrently. Never rejects. `/hang` never resolves, and `/held` only after
   * `/release`: the transport must be able to close nevertheless.
   */
  answer(request: ReferenceRequest): Promise<ReferenceAnswer>;
}

/** Creates a reference module with its own state. */
export function createReferenceModule(): ReferenceModule {
  const countByMarker = new Map<string, number>();
  const gates = new Map<string, Gate>();
  const gateOf = (marker: string): Gate => {
    const gate = gates.get(marker) ?? createGate();
    gates.set(marker, gate);
    return gate;
  };
  let configuration = new Uint8Array(Buffer.from('null'));
  let deliveries = 0;
  return {
    manifest: REFERENCE_MANIFEST,
    answer: async (request) => {
      const url = new URL(request.target, 'http://reference');
      const marker = url.searchParams.get('marker');
      if (marker !== null) countByMarker.set(marker, (countByMarker.get(marker) ?? 0) + 1);
      const answer = await respond(request, url, {
        countOf: (marker) => countByMarker.get(marker) ?? 0,
        heldBy: (marker) => gateOf(marker).opened,
        release: (marker) => gateOf(marker).open(),
        configuration: () => configuration,
        configure: (bytes) => {
          deliveries += 1;
          if (readRevision(bytes) < readRevision(configuration)) return false;
          configuration = new Uint8Array(bytes);
          return true;
        },
        deliveries: () => deliveries,
      });
      return request.method === 'HEAD' ? withoutBody(answer) : answer;
    },
  };
}

/** The response to a HEAD names the length of the body that a GET would get. */
function withoutBody({ body, headers, ...answer }: ReferenceAnswer): ReferenceAnswer {
  const length = String(body?.length ?? 0);
  return { ...answer, headers: { ...headers, 'content-length': length }, body: null };
}

function readRevision(configuration: Uint8Array): number {
  const parsed = JSON.parse(Buffer.from(configuration).toString());
  return parsed?.revision ?? 0;
}

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function createGate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
