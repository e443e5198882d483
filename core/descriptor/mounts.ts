import { array, define, type Infer, object, refine } from 'superstruct';
import { converted, described, named, optionally, withDefault } from '../contract/described.js';
import type { Violation } from '../document/diagnostic.js';
import { matching } from '../document/structs.js';
import { firstSegment } from '../lib/routing/request-path.js';

/** The first segments of paths that belong to the host and its surfaces, such as `/metrics`. */
export interface ReservedPrefixes {
  /** Complete once `load` has resolved. */
  readonly current: ReadonlySet<string>;
  load(): Promise<ReadonlySet<string>>;
}

const MAX_MOUNTS = 64;
const ROOT = '/';
const LABEL = '[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?';
const HOST = new RegExp(`^(?:\\[[0-9A-Fa-f:.]+\\]|${LABEL}(?:\\.${LABEL})*\\.?)(?::\\d{1,5})?$`);
const PATH = /^\/(?:[A-Za-z0-9._~-]+(?:\/[A-Za-z0-9._~-]+)*)?$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/** The form in which hosts are compared: in lower case, without port and final dot. */
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

const mount = named(
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

/** Where the routes of a module answer besides `/modules/{module}/http`. */
export const mountList = withDefault(
  described(
    refine(array(mount), `a list of at most ${MAX_MOUNTS} mappings`, (list) => {
      return list.length <= MAX_MOUNTS;
    }),
    { maxItems: MAX_MOUNTS },
  ),
  [],
  { description: 'Addresses of the module besides /modules/{module}/http.' },
);

/** An address of a module besides its own. */
export type Mount = Readonly<Infer<typeof mount>>;

/** `/api/orders`, or `api.example/v1` */
export function formatMount({ host = '', path }: Mount): string {
  return host + path;
}

/** What stands in front of the paths of the routes: nothing for `/`. */
export function mountBase({ path }: Mount): string {
  return path === ROOT ? '' : path;
}

/** Whether all that is below one mount is below the other, which has more. */
function isBelow(inner: Mount, outer: Mount): boolean {
  const isSameHost = outer.host === undefined || outer.host === inner.host;
  const isInside = `${mountBase(inner)}/`.startsWith(`${mountBase(outer)}/`);
  return isSameHost && isInside && formatMount(inner) !== formatMount(outer);
}

/** A mount of a module that is above one of another module. */
export interface OuterMount {
  readonly module: string;
  readonly mount: Mount;
}

/** The mount of another module whose paths a mount takes; `undefined` for none. */
export function findOuterMount(
  { module, mount }: OuterMount,
  all: readonly OuterMount[],
): OuterMount | undefined {
  return all.find((other) => other.module !== module && isBelow(mount, other.mount));
}

/** The rules of mounts that a struct cannot express. Skips holes, which the struct has rejected. */
export function validateMounts(
  mounts: readonly (Partial<Mount> | undefined)[],
  reserved: ReadonlySet<string>,
): Violation[] {
  const seen = new Set<string>();
  return Array.from(mounts, (mount, index): Violation[] => {
    if (mount?.path === undefined) return [];
    const mapping: Mount = { ...mount, path: mount.path };
    const subject = `'mount[${index}]'`;
    const at = { path: ['mount', index, 'path'], at: 'value' } as const;
    const key = formatMount(mapping);
    const isRepeated = seen.has(key);
    seen.add(key);
    if (isRepeated) {
      return [
        {
          rule: 'duplicate-mount',
          message: `${subject} is listed twice`,
          hint: 'remove it',
          ...at,
        },
      ];
    }
    if (mapping.path === ROOT) {
      if (mapping.host !== undefined) return [];
      const message = `${subject} with the path '/' has no host: expected one`;
      return [
        { rule: 'mount-without-host', message, hint: 'name the host, or another path', ...at },
      ];
    }
    if (!reserved.has(firstSegment(mapping.path))) return [];
    const message = `${subject} begins with '${firstSegment(mapping.path)}', which belongs to the host or one of its surfaces`;
    return [{ rule: 'reserved-mount', message, hint: 'choose another first segment', ...at }];
  }).flat();
}
