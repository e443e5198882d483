import type { RequestListener } from 'node:http';

/** The records of the entity `contacts`; a page of the console has 50. */
export const CONTACTS = 120;
/** The records of the entity of `describeLong`: beyond 200 the page holds only those in view. */
export const LONG_CONTACTS = 250;
/** Beyond 2^53, where the numbers of scripts are not exact. */
export const FIRST_CONTACT = 9_007_199_254_740_993n;

const field = (key: string, type: object, value: unknown, overrides: object = {}) => ({
  ...{ service: 'crm', key, type, default: value, editable: true },
  ...overrides,
});

/** A manifest with everything that a console can show. */
export const CRM_MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'acme/crm',
  version: '1.4.0',
  summary: 'Contacts and deals',
  capabilities: ['crm.read', 'crm.write', 'crm.config', 'crm.deals'],
  http_routes: [
    { method: 'GET', path: '/contacts', capability: 'crm.read' },
    { method: 'GET', path: '/contacts/{id}', capability: 'crm.read' },
    { method: 'POST', path: '/contacts', capability: 'crm.write' },
    { method: 'GET', path: '/files/{path...}', capability: 'crm.deals' },
  ],
  admin: {
    entities: [
      {
        name: 'contacts',
        label: 'Contacts',
        read_capability: 'crm.read',
        list_path: '/admin/contacts',
        fields: [
          { name: 'id', label: 'Number', type: 'integer' },
          { name: 'name', label: 'Name', type: 'string' },
          { name: 'since', label: 'Since', type: 'timestamp' },
          { name: 'vip', label: 'Important', type: 'boolean' },
          { name: 'extra', label: 'Extra', type: 'json', nullable: true },
        ],
      },
      { name: 'deals', read_capability: 'crm.deals', list_path: '/admin/deals' },
    ],
    actions: [
      {
        ...{ name: 'refresh', label: 'Refresh the index', capability: 'crm.write' },
        ...{ danger_level: 'low', invoke_path: '/admin/refresh' },
      },
      {
        ...{ name: 'merge', label: 'Merge two contacts', capability: 'crm.write' },
        ...{ danger_level: 'medium', invoke_path: '/admin/merge' },
        confirmation: { message: 'Merge both contacts into one?' },
        input_schema: {
          fields: [
            { name: 'from', label: 'From', type: 'integer', required: true },
            { name: 'reason', label: 'Reason', type: 'string' },
          ],
        },
      },
      {
        ...{ name: 'wipe', label: 'Delete all contacts', capability: 'crm.write' },
        ...{ danger_level: 'high', invoke_path: '/admin/wipe' },
        confirmation: { message: 'Delete every contact?', required_phrase: 'DELETE ALL' },
        input_schema: { fields: [{ name: 'dry_run', label: 'Only count', type: 'boolean' }] },
      },
      {
        ...{ name: 'break', label: 'Break', capability: 'crm.write', invoke_path: '/admin/break' },
      },
    ],
  },
  config: {
    read_capability: 'crm.read',
    write_capability: 'crm.config',
    fields: [
      field('page_size', { kind: 'int', min: 1, max: 500 }, 50),
      field('ratio', { kind: 'float', min: 0, max: 1 }, 0.5),
      field('open', { kind: 'bool' }, false),
      field('region', { kind: 'enum', values: ['north', 'south'] }, 'north'),
      field('greeting', { kind: 'string' }, 'hello', { restart_only: true }),
      field('limits', { kind: 'json' }, { a: 1 }),
      field('api_key', { kind: 'string' }, 'the default of a secret', { sensitive: true }),
      field('fixed', { kind: 'string' }, 'as it is', { editable: false }),
    ],
  },
  console_slots: [{ id: 'acme/crm.contacts.row.actions', version: 1 }],
};

const BILLING_MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'acme/billing',
  capabilities: ['billing.write'],
  http_routes: [],
  admin: {
    actions: [
      {
        ...{ name: 'invoice', label: 'Send an invoice', capability: 'billing.write' },
        invoke_path: '/admin/invoice',
        input_schema: { fields: [{ name: 'customer', label: 'Customer', type: 'string' }] },
      },
    ],
  },
  console_contributions: ['acme/crm.contacts.row.actions', 'acme/crm.actions'].map((target) => ({
    target,
    label: target.endsWith('row.actions') ? 'Invoice this contact' : 'Invoice a contact',
    required_capabilities: ['billing.write'],
    action: {
      ...{ kind: 'admin_action', module: 'acme/billing', name: 'invoice' },
      input_bindings: [{ input: 'customer', value: { kind: 'slot_context', path: 'row.name' } }],
    },
  })),
};

export function describeCrm(endpoint: string, overrides: object = {}): object {
  return describe(
    'crm',
    endpoint,
    CRM_MANIFEST,
    ['crm.read', 'crm.write', 'crm.config'],
    overrides,
  );
}

/** A module with one entity of `LONG_CONTACTS` records. */
export function describeLong(endpoint: string): object {
  const entity = { name: 'long', read_capability: 'long.read', list_path: '/admin/long' };
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: 'acme/long',
    capabilities: ['long.read'],
    http_routes: [],
    admin: { entities: [entity] },
  };
  return describe('long', endpoint, manifest, ['long.read']);
}

const NOTES_FIELDS = [
  { name: 'id', type: 'integer' },
  { name: 'constructor', type: 'string' },
  { name: 'text', type: 'string', nullable: true, required: true },
  { name: 'title', type: 'string' },
] as const;

/** A module whose records are not all alike, with an action that gets the members of a record. */
export function describeNotes(endpoint: string): object {
  const capability = 'notes.use';
  const toField = ({ name, type }: (typeof NOTES_FIELDS)[number]) => ({ name, type });
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: 'notes',
    capabilities: [capability],
    http_routes: [],
    admin: {
      entities: [
        {
          ...{ name: 'notes', read_capability: capability, list_path: '/admin/notes' },
          fields: NOTES_FIELDS.map(toField),
        },
        { name: 'odd', read_capability: capability, list_path: '/admin/odd' },
      ],
      actions: [
        {
          ...{ name: 'keep', label: 'Keep the note', capability, invoke_path: '/admin/keep' },
          input_schema: { fields: NOTES_FIELDS },
        },
      ],
    },
    console_contributions: [
      {
        target: 'notes.notes.row.actions',
        label: 'Keep this note',
        action: {
          ...{ kind: 'admin_action', module: 'notes', name: 'keep' },
          input_bindings: NOTES_FIELDS.map(({ name }) => ({
            input: name,
            value: { kind: 'slot_context', path: `row.${name}` },
          })),
        },
      },
    ],
  };
  return describe('notes', endpoint, manifest, [capability]);
}

export function describeBilling(endpoint: string): object {
  return describe('billing', endpoint, BILLING_MANIFEST, ['billing.write']);
}

/** A descriptor that grants the console that ships with the host. */
export function describe(
  module: string,
  endpoint: string,
  manifest: object,
  grants: readonly string[],
  overrides: object = {},
): object {
  return {
    module,
    provider: { kind: 'http', config: { endpoints: [endpoint] } },
    manifest: { inline: manifest },
    console: { ui: ['builtin'], grants },
    provider_errors: 'passthrough',
    ...overrides,
  };
}

/** Answers for both modules. An action answers with the input that it was given. */
export const answerShop: RequestListener = (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://provider');
  const name = pathname.split('/').at(-1) ?? '';
  response.setHeader('content-type', 'application/json');
  const count = LISTS[pathname];
  const records = RECORDS[pathname];
  if (records !== undefined) {
    response.end(`{"records":${records},"next_cursor":null}`);
  } else if (count !== undefined) {
    const limit = Number(searchParams.get('limit'));
    response.end(listContacts(limit, searchParams.get('cursor'), count));
  } else if (name === 'break') {
    response.statusCode = 409;
    response.end('{"detail":"the index is being built"}');
  } else {
    response.end(JSON.stringify({ done: name }));
  }
};

const RECORDS: Readonly<Record<string, string>> = {
  '/admin/notes': '[{"id":1,"text":null,"title":""},{"id":2,"text":"two\\nlines","title":"b"}]',
  '/admin/odd': '[7,"seven",null,[7]]',
};

const LISTS: Readonly<Record<string, number>> = {
  '/admin/contacts': CONTACTS,
  '/admin/long': LONG_CONTACTS,
};

/** Text, because the numbers are exact. */
function listContacts(limit: number, cursor: string | null, count: number): string {
  const from = Number(cursor ?? 0);
  const to = Math.min(from + limit, count);
  const records = Array.from({ length: to - from }, (_, at) => {
    const rest = { name: `Contact ${from + at}`, since: '2026-01-31T12:00:00Z', vip: true };
    const text = JSON.stringify({ ...rest, extra: null });
    return `{"id":${FIRST_CONTACT + BigInt(from + at)},${text.slice(1)}`;
  });
  const next = to < count ? `"${to}"` : 'null';
  return `{"records":[${records.join(',')}],"next_cursor":${next}}`;
}
