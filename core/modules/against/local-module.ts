import type { Manifest } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import {
  findOuterMount,
  formatMount,
  type Mount,
  type MountedModule,
} from '../../descriptor/sections/mount.js';

export type CheckedModule =
  | {
      readonly kind: 'known';
      readonly manifest: Manifest;
      /** `null` for a manifest that was checked without its descriptor. */
      readonly configDigest: string | null;
      /** `null` for a manifest that was checked without its descriptor. */
      readonly responses: ResponseFacts | null;
      /** `null` for a manifest that was checked without its descriptor. */
      readonly access: AccessFacts | null;
    }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'unknown'; readonly detail: string };

export interface AccessFacts {
  /** Whether it opens the public routes. */
  readonly public: boolean;
  /** The addresses of allowed clients; `null` for all. */
  readonly addresses: readonly string[] | null;
  readonly mounts: readonly Mount[];
  /** The paths of other modules that its mounts cover. */
  readonly taken: readonly string[];
  /** Where calls go beside the provider, by the section of the descriptor that says so. */
  readonly destinations: Readonly<Record<string, readonly string[]>>;
}

/** The parts of a module's responses that clients receive. */
export interface ResponseFacts {
  readonly mode: string;
  readonly expose_headers: readonly string[];
  /** The targets of redirects that callers receive; absent for none. */
  readonly redirects?: readonly string[] | undefined;
}

/** `/api/orders/old, below /api/orders of module 'orders'` */
export function listNestedMounts(
  name: string,
  mounts: readonly MountedModule[],
): readonly string[] {
  return mounts.flatMap((mount) => {
    const outer = mount.module === name ? findOuterMount(mount, mounts) : undefined;
    if (outer === undefined) return [];
    return `${formatMount(mount.mount)}, below ${formatMount(outer.mount)} of module '${outer.module}'`;
  });
}

export function readAccess(descriptor: Descriptor, mounts: readonly MountedModule[]): AccessFacts {
  const { module, allow, mount, furtherProviders } = descriptor;
  return {
    public: descriptor.public,
    addresses: allow?.addresses ?? null,
    mounts: mount,
    taken: listNestedMounts(module, mounts),
    destinations: Object.fromEntries(
      furtherProviders.map(({ section, destinations }) => [section, destinations]),
    ),
  };
}

export function readResponses({ responses }: Pick<Descriptor, 'responses'>): ResponseFacts {
  const { mode, expose_headers, redirects } = responses;
  return { mode, expose_headers, ...(redirects.length > 0 && { redirects }) };
}
