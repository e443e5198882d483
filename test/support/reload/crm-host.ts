import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EchoProvider } from '../echo-provider.js';
import { describeModule, toRoutes } from '../http/modules.js';
import {
  type ReloadHost,
  type ReloadProcess,
  startReloadHost,
  startReloadProcess,
} from './reload-host.js';

export const ROUTES = toRoutes(['GET /items'], 'use');
export const MORE_ROUTES = toRoutes(['GET /items', 'GET /more'], 'use');

/** A host with the modules crm and other. */
export function startCrmHost(): Promise<ReloadHost> {
  return startReloadHost(describeModules);
}

/** Works like `startCrmHost`, in a separate process. */
export function startCrmProcess(): Promise<ReloadProcess> {
  return startReloadProcess(describeModules);
}

function describeModules(provider: EchoProvider): Record<string, object> {
  return {
    'crm.json': describeModule('crm', provider.url, ROUTES),
    'other.json': describeModule('other', provider.url, ROUTES),
  };
}

export function describeCrmOf(host: ReloadHost, routes: typeof ROUTES, overrides: object): object {
  return describeModule('crm', host.provider.url, routes, overrides);
}

export function hasLogged(host: ReloadHost, message: string): boolean {
  return host.running.logs().some((line) => line['msg'] === message);
}

export function onProbation(minCalls: number, seconds = 30): object {
  return { probation: { seconds, max_error_rate: 0.2, min_calls: minCalls } };
}

/** The last good version of a descriptor in the state folder; empty if there is none. */
export function keptText(host: ReloadHost, file: string): string {
  const path = join(host.state, 'last-good', `${file}.json`);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
