import { SurfaceError } from '../../../core/contract/index.js';

/** Responses below /console/api must be neither cached nor shown as a page, also those of modules. */
const API_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const;

export function createJson(value: unknown): Response {
  return Response.json(value, { headers: API_HEADERS });
}

/** Creates a 204. @param cookies values of `set-cookie` */
export function createEmpty(cookies: readonly string[] = []): Response {
  const headers = new Headers(API_HEADERS);
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 204, headers });
}

/** Creates a 302 without a body. */
export function createRedirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ ...API_HEADERS, location });
  for (const cookie of cookies) headers.append('set-cookie', cookie);
  return new Response(null, { status: 302, headers });
}

/** Adds the headers of the console to a response of the host. */
export function setApiHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(API_HEADERS)) headers.set(name, value);
}

const MAX_DEPTH = 8;

/**
 * Whether a text has more brackets than any request of the console. Brackets in strings count too.
 */
function isDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** @throws SurfaceError for a body that is not a JSON object. */
export async function readJsonObject(request: Request): Promise<Record<string, unknown>> {
  const text = await request.text();
  let value: unknown;
  try {
    value = isDeep(text) ? null : JSON.parse(text);
  } catch {
    value = null;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new SurfaceError('validation_failed', 'the body is not a JSON object', {
    errors: [{ field: 'body', reason: 'not a JSON object' }],
  });
}
