import type { HostResource, ListedTable } from '../../contract/index.js';
import type { Resource } from '../../operations/resource.js';
import { type HostRouteName, LISTED_ROUTES, type ListedRoute } from './host-route-list.js';

export type HostResources = Readonly<Record<HostRouteName, Resource>>;

/** Imports what the routes answer. */
export async function loadResources(): Promise<HostResources> {
  const load = async ({ name, load }: ListedRoute) => [name, await load()] as const;
  return Object.fromEntries(await Promise.all(LISTED_ROUTES.map(load))) as HostResources;
}

export function describeResources(resources: HostResources): readonly HostResource[] {
  return LISTED_ROUTES.filter(({ isForPages }) => isForPages).map(
    ({ name, method, path, right }) => {
      const { listing } = resources[name];
      return {
        method: method.toUpperCase(),
        path,
        scope: right.kind === 'scope' ? right.scope : null,
        isForUsers: right.kind === 'scope' && right.isForUsers === true,
        page: listing?.page ?? null,
        tables: listing === null ? [] : [pickTable(listing), ...(listing.more ?? [])],
      };
    },
  );
}

/** Without the functions of the command line. */
function pickTable({ title, rows, columns }: ListedTable): ListedTable {
  return { title, rows, columns };
}
