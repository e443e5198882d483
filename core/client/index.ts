/** A typed client of modules, for browsers and Node.js: `modgate/client`. */

import createFetchClient from 'openapi-fetch';
import { describeBytes, isRoutable, writePath, writeQuery } from './request.js';
import type { Client, ClientOptions, Problem, UnexpectedAnswer } from './types.js';

export type {
  Client,
  ClientOptions,
  Problem,
  ProblemDetail,
  Result,
  UnexpectedAnswer,
} from './types.js';

type Values = Readonly<Record<string, unknown>>;

interface Init extends Values {
  readonly parseAs?: string;
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly params?: { readonly path?: Values; readonly query?: Values };
}

interface Answer {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

interface Core {
  request(method: string, path: string, init: object): Promise<Answer>;
}

/**
 * Creates a client of the modules whose types `modgate client` has written: `createClient<paths>({url})`.
 * A call resolves to `{data, error, response}` as in openapi-fetch, without the envelope. It throws
 * only what `fetch` throws, and a `URIError` for a lone surrogate, which a URL cannot have.
 */
export function createClient<Paths>(options: ClientOptions): Client<Paths> {
  const { url, token, basePath, parse = JSON.parse, ...others } = options;
  const client = createFetchClient({
    pathSerializer: writePath,
    querySerializer: writeQuery,
    ...others,
    baseUrl: url,
  });
  /** The texts of errors, which openapi-fetch parses. */
  const texts = new WeakMap<Response, string>();
  client.use({
    onRequest: async ({ request }) => {
      const current = typeof token === 'function' ? await token() : token;
      if (current !== undefined && !request.headers.has('authorization')) {
        request.headers.set('authorization', `Bearer ${current}`);
      }
    },
    onResponse: async ({ response }) => {
      if (!response.ok) texts.set(response, await response.clone().text());
    },
  });
  const call = async (method: string, path: string, init: Init = {}): Promise<Answer> => {
    if (!isRoutable(path, init.params?.path)) return createNotFound();
    const { parseAs = 'json' } = init;
    const isJson = parseAs === 'json';
    const { data, response } = await (client as Core).request(method, place(path, basePath), {
      ...init,
      ...describeBytes(init),
      parseAs: isJson ? 'text' : parseAs,
    });
    if (response.ok && !isJson) return { data, response };
    return readAnswer(response, (response.ok ? data : texts.get(response)) ?? '', parse);
  };
  const createCall = (method: string) => (path: string, init?: Init) => call(method, path, init);
  const calls = {
    GET: createCall('GET'),
    PUT: createCall('PUT'),
    POST: createCall('POST'),
    DELETE: createCall('DELETE'),
    PATCH: createCall('PATCH'),
    pages: (path: string, init?: Init) => readPages(calls.GET, path, init),
    use: client.use,
    eject: client.eject,
  };
  return calls as unknown as Client<Paths>;
}

/**
 * Whether an error is a Problem of the host. Routes in raw mode may also have errors of the
 * provider, whose responses have `modgate-origin: provider`.
 */
export function isProblem(error: unknown): error is Problem {
  if (!isObject(error)) return false;
  const { code, status, detail, errors } = error;
  const isText = typeof code === 'string' && typeof detail === 'string';
  return isText && typeof status === 'number' && Array.isArray(errors);
}

const OWN_PATH = /^\/modules\/([^/]+)\/http/;

/** Returns the path below a mount. */
function place(path: string, basePath: ClientOptions['basePath']): string {
  const [own = '', module = ''] = OWN_PATH.exec(path) ?? [];
  const base = typeof basePath === 'object' ? basePath[decodeURIComponent(module)] : basePath;
  return base === undefined ? path : base.replace(/\/+$/, '') + path.slice(own.length);
}

function readAnswer(response: Response, text: unknown, parse: (text: string) => unknown): Answer {
  const body = readBody(String(text), parse);
  if (response.headers.get('modgate-origin') === 'provider') return readRaw(response, body);
  if (
    response.ok &&
    isObject(body.value) &&
    body.value['status'] === 'forwarded' &&
    'data' in body.value
  ) {
    return { data: body.value['data'], response };
  }
  if (!response.ok && isProblem(body.value) && body.value.status === response.status) {
    return { error: body.value, response };
  }
  return { error: createUnexpected(response, body.value), response };
}

interface Body {
  /** JSON, otherwise text; `null` for an empty text. */
  readonly value: unknown;
  readonly isJson: boolean;
}

function readBody(text: string, parse: (text: string) => unknown): Body {
  if (text === '') return { value: null, isJson: false };
  try {
    return { value: parse(text), isJson: true };
  } catch {
    return { value: text, isJson: false };
  }
}

/** The answer of a provider in raw mode; a 304 has neither data nor an error. */
function readRaw(response: Response, { value, isJson }: Body): Answer {
  if (response.status === 304) return { response };
  if (!response.ok) return { error: value, response };
  if (isJson) return { data: value, response };
  return value === null
    ? { data: undefined, response }
    : { error: createUnexpected(response, value), response };
}

function createUnexpected({ status }: Response, body: unknown): UnexpectedAnswer {
  const detail = 'the body is neither what the route promises nor a Problem';
  return { code: 'unexpected_answer', status, title: 'Unexpected answer', detail, body };
}

/** The answer of the host to a path that no route can match. */
function createNotFound(): Answer {
  const error: Problem = {
    type: '/problems/not_found',
    title: 'Not found',
    status: 404,
    code: 'not_found',
    detail: 'no route matches: a path parameter has an empty segment, . or ..',
    request_id: null,
    correlation_id: null,
    errors: [],
  };
  const headers = { 'content-type': 'application/problem+json', 'modgate-origin': 'host' };
  return {
    error,
    response: new Response(JSON.stringify(error), { status: error.status, headers }),
  };
}

/** The members with the next cursor: of providers, and of the console bridge. */
const CURSORS = ['next_cursor', 'nextCursor'];

async function* readPages(
  read: (path: string, init: Init) => Promise<Answer>,
  path: string,
  init: Init = {},
): AsyncGenerator<Answer, void, undefined> {
  let cursor = init.params?.query?.['cursor'];
  do {
    const query = { ...init.params?.query, cursor };
    const page = await read(path, { ...init, params: { ...init.params, query } });
    yield page;
    const { data } = page;
    cursor = isObject(data) ? CURSORS.map((name) => data[name]).find(Boolean) : undefined;
  } while (typeof cursor === 'string');
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
