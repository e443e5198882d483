import { type AdminEntity, ProviderFailure } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { sliceMember } from '../../lib/json/json-structure.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import { createProtocolFailure, readResponseData } from '../forward/provider-response.js';
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
 * The maximum page, with a higher `limits.response_bytes` too: a page has at most 200 records. Bytes.
 */
const MAX_PAGE_BYTES = 4_194_304;

/** A page as the provider wrote it: nothing is parsed. */
interface Page {
  readonly body: Buffer;
  readonly records: Buffer;
  readonly cursor: Buffer;
}

const OPEN_ARRAY = 0x5b;
const QUOTE = 0x22;
const NULL = Buffer.from('null');
/** Many providers end a list with it; sent back, it would be the first page again. */
const EMPTY_TEXT = Buffer.from('""');

/** @throws ProviderFailure `protocol` for a response other than a short `{records, next_cursor}`. */
export function readPage(outcome: CheckedOutcome): Page {
  const pieces = readResponseData(outcome);
  if (outcome.length > MAX_PAGE_BYTES) {
    const state = 'a page that is too long';
    throw createProtocolFailure(outcome, state, `page over ${MAX_PAGE_BYTES} bytes`);
  }
  const body = Buffer.concat(pieces);
  const records = sliceMember(body, 'records');
  const cursor = sliceMember(body, 'next_cursor') ?? NULL;
  if (records?.[0] === OPEN_ARRAY && (cursor[0] === QUOTE || cursor.equals(NULL))) {
    return { body, records, cursor };
  }
  const message = 'the response to an admin list is not {records, next_cursor}';
  throw new ProviderFailure('protocol', message, { status: outcome.status });
}

function formatPage({ records, cursor }: Page): Buffer {
  const next = cursor.equals(EMPTY_TEXT) ? NULL : cursor;
  return Buffer.concat([
    ...[Buffer.from('{"data":'), records],
    ...[Buffer.from(',"nextCursor":'), next, Buffer.from('}')],
  ]);
}
