import { describeModule, toRoutes } from '../http/modules.js';
import { waitUntil } from '../http/wait-until.js';
import { FOLLOW_MS, type ReloadHost } from './reload-host.js';

/** Files that change at once: each look of the host at its folder then is many reloads. */
export const MODULES_AT_ONCE = 50;

export const moduleName = (index: number) => `m${String(index).padStart(5, '0')}`;

/**
 * A module that answers `GET /items`, and `GET /v0` or `GET /v1` to tell its version from the one before: a
 * route that is new each time would be counted in metrics of its own each time.
 */
export function describeVersion(name: string, endpoint: string, version: number): object {
  return describeModule(name, endpoint, toRoutes(['GET /items', `GET /v${version % 2}`], 'use'));
}

/**
 * Changes every module of the host, and calls each old and new version, so that what a version holds is
 * there to be let go.
 */
export async function reloadAll(host: ReloadHost, modules: number, version: number): Promise<void> {
  const names = Array.from({ length: modules }, (_, index) => moduleName(index));
  for (const name of names) {
    host.write(`${name}.json`, describeVersion(name, host.provider.url, version));
  }
  for (const name of names) {
    const isServed = async () => (await host.get(name, `/v${version % 2}`)) === 200;
    await waitUntil(`${name} serves version ${version}`, isServed, FOLLOW_MS);
  }
}
