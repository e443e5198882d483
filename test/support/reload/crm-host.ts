import { describeModule, toRoutes } from '../http/modules.js';
import { type ReloadHost, startReloadHost } from './reload-host.js';

export const ROUTES = toRoutes(['GET /items'], 'use');
export const MORE_ROUTES = toRoutes(['GET /items', 'GET /more'], 'use');

/** A host with the modules crm and other. */
export function startCrmHost(): Promise<ReloadHost> {
  return startReloadHost((provider) => ({
    'crm.json': describeModule('crm', provider.url, ROUTES),
    'other.json': describeModule('other', provider.url, ROUTES),
  }));
}

export function describeCrmOf(host: ReloadHost, routes: typeof ROUTES, more: object): object {
  return describeModule('crm', host.provider.url, routes, more);
}

export function hasLogged(host: ReloadHost, message: string): boolean {
  return host.running.logs().some((line) => line['msg'] === message);
}
