import type { Manifest } from '../contract/index.js';
import type { Descriptor } from '../descriptor/descriptor.js';
import type { TableEntry } from '../lib/routing/route-table.js';
import type { LiveRoute } from '../modules/live-module.js';

/** A module as the document needs it: a served one, or one that is read from files. */
export interface DescribedModule {
  readonly name: string;
  readonly configDigest: string;
  readonly descriptor: Descriptor;
  readonly manifest: Pick<Manifest, 'summary' | 'schemas' | 'http_routes'>;
  /** The route table that requests are matched against, in the order of the manifest. */
  readonly routes: { readonly entries: readonly TableEntry<LiveRoute>[] };
}

export type DescribedRoute = TableEntry<LiveRoute>;

/** The part of the document about the host itself. */
export interface DescribedHost {
  /** The URL of the host for callers; `null` for the address from which the document was read. */
  readonly publicUrl: string | null;
  /** The challenges of a 401: `Bearer`, `Basic realm="staff"`. */
  readonly challenges: readonly string[];
  /** The headers for credentials; lower-case names. */
  readonly credentialHeaders: readonly string[];
  /** Whether the host limits how often an actor may call, or an address send bad credentials. */
  readonly limitsCallers: boolean;
}
