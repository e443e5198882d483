/** The parts of requests that differ from those of openapi-fetch. */

const PARAMETER = /\{([^{}]+)\}/g;

/** Marks a parameter that takes several segments: `{path...}`. */
const REST = '...';

type Values = Readonly<Record<string, unknown>>;

/** Whether all values are segments; `.`, `..` and empty ones would lead to another route. */
export function isRoutable(path: string, values: Values = {}): boolean {
  return [...path.matchAll(PARAMETER)].every(([, name = '']) =>
    splitValue(name, values).every((segment) => !['', '.', '..'].includes(segment)),
  );
}

export function writePath(path: string, values: Values): string {
  return path.replace(PARAMETER, (_, name: string) =>
    splitValue(name, values).map(encodeURIComponent).join('/'),
  );
}

function splitValue(parameter: string, values: Values): string[] {
  const isRest = parameter.endsWith(REST);
  const value = String(values[isRest ? parameter.slice(0, -REST.length) : parameter] ?? '');
  return isRest ? value.split('/') : [value];
}

/** Also encodes the names, which openapi-fetch leaves as they are. */
export function writeQuery(query: Values): string {
  return Object.entries(query)
    .flatMap(([name, value]) => writePairs(name, value))
    .join('&');
}

/** Writes objects as `name[member]`. */
function writePairs(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => writePairs(name, one));
  if (Object.getPrototypeOf(value) === Object.prototype) {
    return Object.entries(value).flatMap(([key, one]) => writePairs(`${name}[${key}]`, one));
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`];
}

interface Sent {
  readonly body?: unknown;
  readonly headers?: unknown;
}

/** What a body of bytes needs, which is sent as it is with its own media type. */
export function describeBytes({ body, headers }: Sent) {
  const own = (
    headers instanceof Headers || Array.isArray(headers) ? Object.fromEntries(headers) : headers
  ) as Values;
  if (!isBytes(body) && !(typeof body === 'string' && hasOtherType(own))) return {};
  return {
    bodySerializer: (bytes: unknown) => bytes,
    // Removes the media type of JSON. That of the caller, which follows, stays.
    headers: { 'content-type': null, ...own },
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  };
}

function isBytes(body: unknown): boolean {
  const types = [Blob, FormData, URLSearchParams, ReadableStream, ArrayBuffer];
  return ArrayBuffer.isView(body) || types.some((type) => body instanceof type);
}

function hasOtherType(headers: Values = {}): boolean {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type');
  return found !== undefined && !/json/i.test(String(found[1]));
}
