import { type AdminEntity, ProviderFailure } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { sliceMembers } from '../../lib/json/json-structure.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { readResponseBytes } from '../forward/provider-response.js';
import type { AdminCall, BridgeCall, BridgeOperation } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';
import { callModule } from './call-module.js';

type Payload = BridgePayloads['admin_data_list'];

/** The bounds of rows per page. */
const LIMIT = { min: 1, max: 200, default: 100 };

/** Reads one page of an admin entity and returns the records unchanged. */
@injectable()
export class AdminDataList implements BridgeOperation<Payload> {
  readonly name = 'admin_data_list';

  isDeclared(payload: Payload, call: BridgeCall): boolean {
    return findEntity(payload, call)?.read_capability === call.permission;
  }

  async execute(payload: Payload, call: BridgeCall): Promise<Buffer> {
    const entity = findEntity(payload, call);
    if (entity === null) throw new Error('a declared entity was not found');
    return readEntity(entity, payload, call, (outcome) => formatPage(readPage(outcome)));
  }
}

interface PageQuery {
  readonly limit?: number | undefined;
  readonly cursor?: string | null | undefined;
}

/** Requests a page from the provider. */
export function readEntity<T>(
  { name, list_path }: AdminEntity,
  { limit = LIMIT.default, cursor = null }: PageQuery,
  call: AdminCall,
  parseResponse: (outcome: CheckedOutcome) => T,
): Promise<T> {
  const operation = {
    kind: 'admin_list',
    entity: name,
    path: list_path ?? null,
    limit: Math.min(LIMIT.max, Math.max(LIMIT.min, limit)),
    cursor,
  } as const;
  return callModule(call, operation, parseResponse);
}

function findEntity({ entity }: Payload, { module }: BridgeCall): AdminEntity | null {
  return module.manifest.admin?.entities?.find(({ name }) => name === entity) ?? null;
}

/**
 * The bytes of a page.
 * @throws ProviderFailure `protocol` for a response other than `{records, next_cursor}`.
 */
export function readPage(outcome: CheckedOutcome): Buffer {
  const body = readResponseBytes(outcome);
  const page: unknown = JSON.parse(body.toString('utf8'));
  if (!isPage(page)) {
    const message = 'the response to an admin list is not {records, next_cursor}';
    throw new ProviderFailure('protocol', message, { status: outcome.status });
  }
  return body;
}

function formatPage(body: Buffer): Buffer {
  const members = sliceMembers(body);
  const records = members.get('records') ?? Buffer.from('[]');
  const cursor = JSON.stringify(JSON.parse(members.get('next_cursor')?.toString() ?? 'null'));
  return Buffer.concat([Buffer.from('{"data":'), records, Buffer.from(`,"nextCursor":${cursor}}`)]);
}

function isPage(value: unknown): value is { records: unknown[]; next_cursor?: string | null } {
  if (typeof value !== 'object' || value === null) return false;
  const { records, next_cursor = null } = value as Record<string, unknown>;
  return Array.isArray(records) && (next_cursor === null || typeof next_cursor === 'string');
}
