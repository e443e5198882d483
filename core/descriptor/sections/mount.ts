import { array, define, type Infer, object, refine } from 'superstruct';
import {
  converted,
  described,
  matching,
  named,
  optionally,
  withDefault,
} from '../../contract/described.js';
import type { Violation } from '../../document/diagnostic.js';
import { firstSegment } from '../../lib/routing/request-path.js';
import { defineSection } from '../section.js';

const MAX_MOUNTS = 64;
const ROOT = '/';
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?';
const HOST = new RegExp(`^(?:\\[[0-9A-Fa-f:.]+\\]|${LABEL}(?:\\.${LABEL})*\\.?)(?::\\d{1,5})?$`);
const PATH = /^\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*)?$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/** Normalizes a host for comparison: lower case, without port and final dot. */
export function normalizeHost(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
}

const host = converted(matching("the name of a host, without '*'", HOST), normalizeHost);

const path = described(
  define<string>(
    "'/', or whole segments of A-Z a-z 0-9 . _ ~ - such as /api/orders, none of them '.' or '..'",
    (value) => typeof value === 'string' && PATH.test(value) && !DOT_SEGMENT.test(value),
  ),
  { type: 'string', pattern: PATH.source },
);

const mapping = named(
  'mount',
  described(
    object({
      host: optionally(host, { description: 'Host name of the requests. Default: any.' }),
      path: described(path, {
        description: "Path below which the routes answer; '/' requires a host.",
      }),
    }),
    { description: 'An address of the module besides /modules/{module}/http.' },
  ),
);

const list = withDefault(
  described(
    refine(array(mapping), `a list of at most ${MAX_MOUNTS} mappings`, ({ length }) => {
      return length <= MAX_MOUNTS;
    }),
    { maxItems: MAX_MOUNTS },
  ),
  [],
  { description: 'Addresses of the module besides /modules/{module}/http.' },
);

/** An additional address of a module. */
export type Mount = Readonly<Infer<typeof mapping>>;

/** `/api/orders`, or `api.example/v1` */
export function formatMount({ host = '', path }: Mount): string {
  return host + path;
}

/** The prefix of the paths of the routes; empty for `/`. */
export function mountBase({ path }: Mount): string {
  return path === ROOT ? '' : path;
}

/** Whether one mount is below the other, or equal to it. */
function isBelow(inner: Mount, outer: Mount): boolean {
  const isSameHost = outer.host === undefined || outer.host === inner.host;
  const isInside = `${mountBase(inner)}/`.startsWith(`${mountBase(outer)}/`);
  return isSameHost && isInside && formatMount(inner) !== formatMount(outer);
}

/** A mount of another module that contains this one. */
export interface MountedModule {
  readonly module: string;
  readonly mount: Mount;
}

/** The mount of another module that contains this one; `undefined` for none. */
export function findOuterMount(
  { module, mount }: MountedModule,
  all: readonly MountedModule[],
): MountedModule | undefined {
  return all.find((other) => other.module !== module && isBelow(mount, other.mount));
}

/** The additional addresses of a module, besides `/modules/{module}/http`. */
export const mount = defineSection({
  struct: list,
  // Loads the prefixes only for a descriptor with mounts.
  validate: async (mounts, { reservedPrefixes }) => {
    if (mounts.length === 0) return [];
    return validateMounts(mounts, (await reservedPrefixes?.load()) ?? new Set());
  },
});

/** Skips holes, which the struct has rejected. */
function validateMounts(
  mounts: readonly (Partial<Mount> | undefined)[],
  reserved: ReadonlySet<string>,
): Violation[] {
  const seen = new Set<string>();
  return Array.from(mounts, (mount, index): Violation[] => {
    if (mount?.path === undefined) return [];
    const known: Mount = { ...mount, path: mount.path };
    const subject = `'mount[${index}]'`;
    const location = { path: ['mount', index, 'path'], at: 'value' } as const;
    const key = formatMount(known);
    const isRepeated = seen.has(key);
    seen.add(key);
    if (isRepeated) {
      return [
        {
          rule: 'duplicate-mount',
          message: `${subject} is listed twice`,
          hint: 'remove it',
          ...location,
        },
      ];
    }
    if (known.path === ROOT) {
      if (known.host !== undefined) return [];
      const message = `${subject} with the path '/' has no host: expected one`;
      return [
        {
          rule: 'mount-without-host',
          message,
          hint: 'name the host, or another path',
          ...location,
        },
      ];
    }
    if (!reserved.has(firstSegment(known.path))) return [];
    const message = `${subject} begins with '${firstSegment(known.path)}', which belongs to the host or one of its surfaces`;
    return [{ rule: 'reserved-mount', message, hint: 'choose another first segment', ...location }];
  }).flat();
}
