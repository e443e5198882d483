import {
  headerValues,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { describedHosts, expectDescribed } from '../openapi/conformance.js';
import { sendRequest } from './send-request.js';

export interface Call {
  readonly method?: string;
  /** Latin-1: each character is one byte. */
  readonly target: string;
  /** The dev token of the caller; `null` sends no `authorization`. */
  readonly as?: string | null;
  readonly headers?: readonly RawHeader[];
  readonly body?: Uint8Array;
  readonly framing?: 'length' | 'chunked' | 'none';
  readonly deadlineMs?: number;
  /** The provider violates its schema on purpose. */
  readonly isUndescribed?: boolean;
}

/** A token that passes every check of actor and capability. */
export const ROOT = 'dev-system:root';
export const JSON_TYPE: RawHeader = ['content-type', 'application/json'];

/** Sends the call unchanged, except that it adds missing `host`, `authorization` and `connection` headers. */
export async function call(
  host: { readonly port: number },
  options: Call,
): Promise<ReceivedResponse> {
  const { as = ROOT, headers = [], deadlineMs, isUndescribed = false, ...rest } = options;
  const sent: RawHeader[] = [];
  if (!has(headers, 'host')) sent.push(['host', `127.0.0.1:${host.port}`]);
  if (as !== null) sent.push(['authorization', `Bearer ${as}`]);
  if (!has(headers, 'connection')) sent.push(['connection', 'close']);
  const request = { ...rest, headers: [...sent, ...headers] };
  const response = await sendRequest(host.port, request, deadlineMs);
  const isChecked = describedHosts.has(host) && !isUndescribed;
  if (isChecked) await expectDescribed(host.port, request, response);
  return response;
}

export function parseJson(response: ReceivedResponse): Record<string, unknown> {
  return JSON.parse(response.body.toString('utf8')) as Record<string, unknown>;
}

function has(headers: readonly RawHeader[], name: string): boolean {
  return headerValues(headers, name).length > 0;
}
