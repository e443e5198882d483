import {
  headerValues,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../http/call.js';
import { waitUntil } from '../http/wait-until.js';

/** The headers that a browser sends with a request of a page of the console. */
export const SAME_ORIGIN: RawHeader = ['sec-fetch-site', 'same-origin'];

/** A user who may do everything in the console. */
export const OPS =
  'dev-user:ops:console.admin,modgate.modules.read,modgate.calls.read,modgate.plugins.read,modgate.audit.read,modgate.explain,modgate.sessions';

interface Host {
  readonly port: number;
}

interface ConsoleRequest {
  readonly method?: string;
  /** The path below /console/api. */
  readonly path: string;
  /** `name=value`; default none. */
  readonly cookie?: string | null;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Default: those of a page of the same origin. */
  readonly headers?: readonly RawHeader[];
}

export function callConsole(
  host: Host,
  { method = 'GET', path, cookie = null, body, headers = [SAME_ORIGIN] }: ConsoleRequest,
): Promise<ReceivedResponse> {
  return call(host, {
    method,
    target: `/console/api${path}`,
    as: null,
    headers: [
      ...headers,
      ...(cookie === null ? [] : [['cookie', cookie] as const]),
      ...(body === undefined ? [] : [JSON_TYPE]),
    ],
    ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
  });
}

/**
 * Waits for the store, which may open later than the host, or again.
 * @returns the cookie as a browser sends it back
 */
export async function signIn(host: Host, token: string = OPS): Promise<string> {
  let response = await postToken(host, token);
  await waitUntil('the store', async () => {
    if (response.status === 503) response = await postToken(host, token);
    return response.status !== 503;
  });
  return readCookie(response);
}

function readCookie(response: ReceivedResponse): string {
  if (response.status !== 204) throw new Error(`sign-in answered ${response.status}`);
  return readSetCookie(response)[0]?.split(';')[0] ?? '';
}

function postToken(host: Host, token: string): Promise<ReceivedResponse> {
  return callConsole(host, { method: 'POST', path: '/session', body: { token } });
}

export function readSetCookie(response: ReceivedResponse): string[] {
  return headerValues(response.headers, 'set-cookie');
}
