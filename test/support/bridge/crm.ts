import type { Manifest } from '../../../core/contract/index.js';
import { createDescriptor, createManifest, httpProvider } from './bridge.js';

/** Granted capabilities of the module, except for the last two. */
export const READ = 'crm.contacts.read';
export const SYNC = 'crm.contacts.sync';
export const CONFIG = 'crm.config';
export const CONFIG_READ = 'crm.config.read';
/** A capability that is not granted. */
export const UNGRANTED = 'crm.deals.read';
/** Granted, but not a capability of the module. */
export const UNDECLARED = 'crm.nothing';

const CRM: Manifest = createManifest('crm', {
  capabilities: [READ, SYNC, CONFIG, CONFIG_READ, UNGRANTED],
  admin: {
    entities: [
      { name: 'contacts', read_capability: READ, list_path: '/admin/contacts' },
      { name: 'deals', read_capability: UNGRANTED, list_path: '/admin/deals' },
    ],
    actions: [
      {
        name: 'sync',
        capability: SYNC,
        invoke_path: '/admin/sync',
        input_schema: {
          fields: [
            { name: 'name', type: 'string', required: true },
            { name: 'count', type: 'integer' },
            { name: 'share', type: 'number' },
            { name: 'dry_run', type: 'boolean' },
            { name: 'since', type: 'timestamp' },
            { name: 'extra', type: 'json' },
            { name: 'comment', type: 'string', nullable: true },
          ],
        },
      },
      {
        name: 'tidy',
        capability: SYNC,
        invoke_path: '/admin/tidy',
        input_schema: { fields: [{ name: 'dry_run', type: 'boolean' }] },
      },
      { name: 'ping', capability: SYNC, invoke_path: '/admin/ping' },
      { name: 'close', capability: UNGRANTED, invoke_path: '/admin/close' },
    ],
  },
  config: {
    read_capability: CONFIG_READ,
    write_capability: CONFIG,
    fields: [
      {
        service: 'crm',
        key: 'page_size',
        type: { kind: 'int', min: 1, max: 500 },
        default: 50,
        editable: true,
      },
      {
        service: 'crm',
        key: 'api_key',
        type: { kind: 'string' },
        default: 'the default of a secret',
        editable: true,
        sensitive: true,
      },
      { service: 'crm', key: 'fixed', type: { kind: 'string' }, default: 'as it is' },
    ],
  },
});

const CRM_GRANTS = [READ, SYNC, CONFIG, CONFIG_READ, UNDECLARED];

export function crmDescriptor(providerUrl: string, members: Record<string, unknown> = {}): object {
  const provider = httpProvider(providerUrl);
  return createDescriptor('crm', CRM, CRM_GRANTS, { provider, ...members });
}
