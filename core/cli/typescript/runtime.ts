/** The part of a client that does not depend on its modules. Self-contained: it needs `fetch` only. */
export const RUNTIME_TYPES = `type Global<Name extends string, Otherwise> = typeof globalThis extends {
  [name in Name]: { prototype: infer Found };
}
  ? Found
  : Otherwise;

/** \`AbortSignal\`, where the platform has it. */
type Signal = Global<'AbortSignal', { readonly aborted: boolean }>;

/** \`Headers\`, where the platform has them. */
type ResponseHeaders = Global<'Headers', { get(name: string): string | null }>;

/** A body of bytes. Of a stream or of bytes alone, \`content-type\` has to be in the headers of the call. */
export type BytesBody =
  | string
  | Uint8Array
  | Global<'ArrayBuffer', never>
  | Global<'Blob', never>
  | Global<'FormData', never>
  | Global<'ReadableStream', never>;

/** \`Response\`, where the platform has it. */
export type BytesResponse = Global<'Response', FetchResponse>;

interface FetchInit {
  method: string;
  headers: { [name: string]: string };
  body?: string | BytesBody;
  duplex?: 'half';
  signal?: Signal;
}

interface FetchResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  text(): Promise<string>;
}

export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

interface ConnectionOptions {
  /** The origin of the host: \`https://api.example\`. */
  readonly url: string;
  /** A bearer token, or a function that returns the current one. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Default: the \`fetch\` of the platform. */
  readonly fetch?: Fetch | undefined;
}

export interface CallOptions {
  readonly signal?: Signal | undefined;
  /** Added to the headers of the request, or instead of them. */
  readonly headers?: { readonly [name: string]: string } | undefined;
}

interface Success<Data> {
  readonly ok: true;
  readonly status: number;
  readonly data: Data;
  readonly headers: ResponseHeaders;
}

export interface Failure<Reason> {
  readonly ok: false;
  readonly status: number;
  readonly error: Reason;
}

export type Result<Data, Reason> = Success<Data> | Failure<Reason>;

export interface ProblemDetail {
  readonly field?: string | null;
  readonly reason: string;
}

/** An error of the host. */
export interface Problem<Code extends string, Status extends number> {
  readonly type: string;
  readonly title: string;
  readonly status: Status;
  readonly code: Code;
  readonly detail: string;
  readonly request_id?: string | null;
  readonly correlation_id: string | null;
  readonly errors: readonly ProblemDetail[];
  /** The actions that the caller can take. */
  readonly next_actions?: readonly string[] | null;
}

/** The body is neither what was promised nor a Problem. */
export interface UnexpectedAnswer {
  readonly code: 'unexpected_answer';
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** The JSON of the response, or its text. */
  readonly body: unknown;
}
`;

export const RUNTIME_CODE = `interface Route {
  readonly method: string;
  /** Literal parts, and the arguments between them. */
  readonly path: readonly (string | { readonly argument: string; readonly rest: boolean })[];
  /** Arguments by the names in the query. */
  readonly query: readonly { readonly argument: string; readonly name: string }[];
  readonly raw: boolean;
  readonly sends?: 'bytes';
  readonly answers?: 'bytes';
}

type Input = object | undefined;

type Send = <Data, Reason>(
  route: Route,
  input: Input,
  options: (CallOptions & { readonly idempotencyKey?: string | undefined }) | undefined,
) => Promise<Result<Data, Reason>>;

/** @param own the path of the module @param basePath that of a mount */
function createSend(client: ConnectionOptions, own: string, basePath = own): Send {
  const base = client.url.replace(/\\/+$/, '') + basePath.replace(/\\/+$/, '');
  const fetcher = client.fetch ?? (globalThis as unknown as { fetch: Fetch }).fetch;
  return async <Data, Reason>(...[route, input, options = {}]: Parameters<Send>) => {
    const path = createPath(route, input);
    if (path === null) return noRoute() as Failure<Reason>;
    const token = typeof client.token === 'function' ? await client.token() : client.token;
    const body = readArgument(input, 'body');
    const accept = route.answers === 'bytes' ? '*/*' : 'application/json';
    const headers: { [name: string]: string } = { accept };
    if (token !== undefined) headers['authorization'] = \`Bearer \${token}\`;
    const isJson = body !== undefined && route.sends !== 'bytes';
    if (isJson) headers['content-type'] = 'application/json';
    if (options.idempotencyKey !== undefined) headers['idempotency-key'] = options.idempotencyKey;
    for (const [name, value] of Object.entries(options.headers ?? {})) {
      headers[name.toLowerCase()] = value;
    }
    const response = await fetcher(base + path.slice(own.length) + createQuery(route, input), {
      method: route.method,
      headers,
      ...(isJson ? { body: JSON.stringify(body) } : {}),
      ...(body === undefined || isJson ? {} : { body: body as BytesBody, duplex: 'half' as const }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const { status } = response;
    if (route.answers === 'bytes' && status >= 200 && status < 300) {
      return { ok: true, status, data: response as Data, headers: response.headers };
    }
    return readResponse<Data, Reason>(route, response, await response.text());
  };
}

/** Null for a segment that a URL cannot have: it would lead to another route. */
function createPath({ path }: Route, input: Input): string | null {
  let text = '';
  for (const part of path) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const value = String(readArgument(input, part.argument));
    const segments = part.rest ? value.split('/') : [value];
    if (segments.some((segment) => segment === '' || segment === '.' || segment === '..')) return null;
    text += segments.map(encode).join('/');
  }
  return text;
}

function createQuery({ query }: Route, input: Input): string {
  const pairs: string[] = [];
  for (const { argument, name } of query) {
    const value = readArgument(input, argument);
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      pairs.push(\`\${encode(name)}=\${encode(String(one))}\`);
    }
  }
  return pairs.length === 0 ? '' : \`?\${pairs.join('&')}\`;
}

/** A lone surrogate is a TypeError, as from \`fetch\` for a URL that it cannot parse. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    throw new TypeError('an argument has a lone surrogate, which a URL cannot have');
  }
}

function readArgument(input: Input, name: string): unknown {
  if (input === undefined || !Object.prototype.hasOwnProperty.call(input, name)) return undefined;
  return (input as { readonly [name: string]: unknown })[name];
}

function readResponse<Data, Reason>(
  route: Route,
  { status, headers }: FetchResponse,
  text: string,
): Result<Data, Reason> {
  const body = parseJson(text);
  if (status >= 200 && status < 300) {
    if (route.raw && text === '') return { ok: true, status, data: null as Data, headers };
    if (route.raw && body !== undefined) return { ok: true, status, data: body as Data, headers };
    if (!route.raw && isObject(body) && body['status'] === 'forwarded' && 'data' in body) {
      return { ok: true, status, data: body['data'] as Data, headers };
    }
  }
  if (isObject(body) && body['status'] === status && isProblem(body)) {
    return { ok: false, status, error: body as Reason };
  }
  return { ok: false, status, error: createUnexpected(status, body ?? text) as Reason };
}

function isProblem({ code, detail, errors }: { readonly [name: string]: unknown }): boolean {
  return typeof code === 'string' && typeof detail === 'string' && Array.isArray(errors);
}

function createUnexpected(status: number, body: unknown): UnexpectedAnswer {
  const detail = 'the body is neither what the route promises nor a Problem';
  return { code: 'unexpected_answer', status, title: 'Unexpected answer', detail, body };
}

/** The response of the host to a path that no route can match. */
function noRoute(): Failure<Problem<'not_found', 404>> {
  const error: Problem<'not_found', 404> = {
    type: '/problems/not_found',
    title: 'Not found',
    status: 404,
    code: 'not_found',
    detail: 'no route matches: a path parameter has an empty segment, . or ..',
    request_id: null,
    correlation_id: null,
    errors: [],
  };
  return { ok: false, status: 404, error };
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
`;

/** Only in clients with a route that pages. */
export const RUNTIME_PAGES = `/** All pages of a route, until the last one or the first failure. */
async function* readPages<Data, Reason>(
  read: (cursor: string | undefined) => Promise<Result<Data, Reason>>,
  member: string,
): AsyncGenerator<Result<Data, Reason>, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield page;
    const next = page.ok && isObject(page.data) ? page.data[member] : undefined;
    cursor = typeof next === 'string' && next !== '' ? next : undefined;
  } while (cursor !== undefined);
}
`;
