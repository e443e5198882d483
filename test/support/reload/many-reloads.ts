import { describeModule, toRoutes } from '../http/modules.js';
import { waitUntil } from '../http/wait-until.js';
import type { ReloadHost } from './reload-host.js';

/** The number of files that change together, so that each scan causes many reloads. */
export const MODULES_AT_ONCE = 50;

export const moduleName = (index: number) => `m${String(index).padStart(5, '0')}`;

/**
 * A module with `GET /items`, and `GET /v0` or `GET /v1` to distinguish it from the previous version. A new
 * route for each version would create new metrics each time.
 */
export function describeVersion(name: string, endpoint: string, version: number): object {
  return describeModule(name, endpoint, toRoutes(['GET /items', `GET /v${version % 2}`], 'use'));
}

/**
 * Changes every module of the host and calls each old and new version, so that each version opens its
 * resources.
 */
export async function reloadAll(host: ReloadHost, modules: number, version: number): Promise<void> {
  const names = Array.from({ length: modules }, (_, index) => moduleName(index));
  for (const name of names) {
    host.write(`${name}.json`, describeVersion(name, host.provider.url, version));
  }
  for (const name of names) {
    const isServed = async () => (await host.get(name, `/v${version % 2}`)) === 200;
    await waitUntil(`${name} serves version ${version}`, isServed);
  }
}
