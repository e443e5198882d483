import type {
  ClientOptions as FetchClientOptions,
  FetchOptions,
  FetchResponse,
  Middleware,
  ParseAs,
} from 'openapi-fetch';

/** How a client reaches the host. Options of openapi-fetch, such as `fetch` and `headers`, are passed on. */
export interface ClientOptions extends Omit<FetchClientOptions, 'baseUrl'> {
  /** The URL of the host: `https://gateway.example`. */
  readonly url: string;
  /** A bearer token, or a function that returns the current one before each request. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /**
   * The path of a mount, such as `/api/orders`, for a client of one module; otherwise paths by the
   * names of the modules. Default: the own path of each module.
   */
  readonly basePath?: string | Readonly<Record<string, string>> | undefined;
  /**
   * Parses the JSON of responses. Default: `JSON.parse`, which rounds integers above 2^53.
   * What it throws for a response becomes an `unexpected_answer`.
   */
  readonly parse?: ((text: string) => unknown) | undefined;
}

/** One part of a request that a Problem names. */
export interface ProblemDetail {
  /** A JSON Pointer into the body, `query.<name>` or a header. */
  readonly field: string | null;
  /** What was expected. */
  readonly reason: string;
}

/** An error of the host. Generated types have a type for each `code`. */
export interface Problem {
  /** The path of the page of its code: `/problems/not_found`. */
  readonly type: string;
  /** The name of its code for people. */
  readonly title: string;
  /** The status of the response. */
  readonly status: number;
  /** What happened, for programs. */
  readonly code: string;
  /** What happened, for people. */
  readonly detail: string;
  /** The ID of the request; `null` for a request that was not sent. */
  readonly request_id: string | null;
  /** The ID that the caller sent, otherwise that of the request. */
  readonly correlation_id: string | null;
  /** Each invalid part. */
  readonly errors: readonly ProblemDetail[];
  /** What the caller can do. */
  readonly next_actions?: readonly string[];
}

/** The error of a response that is neither what the host promises nor a Problem, such as that of a proxy. */
export interface UnexpectedAnswer {
  /** Distinguishes it from Problems. */
  readonly code: 'unexpected_answer';
  /** The status of the response. */
  readonly status: number;
  /** The name of its code for people. */
  readonly title: string;
  /** What happened, for people. */
  readonly detail: string;
  /** The body of the response: JSON, otherwise text; `null` without one. */
  readonly body: unknown;
}

type Method = 'get' | 'put' | 'post' | 'delete' | 'patch';

type PathsWith<Paths, M extends Method> = {
  [Path in keyof Paths]: Paths[Path] extends { [Name in M]: unknown } ? Path : never;
}[keyof Paths];

type Operation<Paths, Path extends keyof Paths, M extends Method> = Paths[Path] extends {
  [Name in M]: infer Found extends Record<string | number, unknown>;
}
  ? Found
  : never;

/** A route without a query has the type `never` for it. */
type HasCursor<Query> = [Query] extends [never]
  ? false
  : 'cursor' extends keyof Query
    ? true
    : false;

/** The paths of GET routes with a `cursor` in their query. */
type PathsOfPages<Paths> = {
  [Path in PathsWith<Paths, 'get'>]: Operation<Paths, Path, 'get'> extends {
    parameters: { query?: infer Query };
  }
    ? HasCursor<NonNullable<Query>> extends true
      ? Path
      : never
    : never;
}[PathsWith<Paths, 'get'>];

type MediaTypes<Op> = Op extends { responses: { 200: { content: infer Content } } }
  ? keyof Content & string
  : never;

/** Bytes are never parsed as JSON: `parseAs` says in which form they are returned. */
type FormOfData<Op> = [MediaTypes<Op>] extends [never]
  ? unknown
  : Extract<MediaTypes<Op>, `${string}json${string}`> extends never
    ? { parseAs: Exclude<ParseAs, 'json'> }
    : unknown;

type Init<Op> = FetchOptions<Op> & FormOfData<Op>;

type RequiredKeys<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? never : Key }[keyof T];

type Arguments<Given> = [RequiredKeys<Given>] extends [never] ? [init?: Given] : [init: Given];

/** What a call resolves to: `data` of a 2xx, otherwise `error`, and the response with its headers. */
export type Result<Op extends Record<string | number, unknown>, Given> =
  FetchResponse<Op, Given, `${string}/${string}`> extends infer Found
    ? Found extends { data: unknown }
      ? Found
      : Found extends { error: infer Failure; response: infer Received }
        ? { data?: never; error: Failure | UnexpectedAnswer; response: Received }
        : never
    : never;

type Call<Paths, M extends Method> = <
  Path extends PathsWith<Paths, M>,
  Given extends Init<Operation<Paths, Path, M>>,
>(
  path: Path,
  ...init: Arguments<Given>
) => Promise<Result<Operation<Paths, Path, M>, Given>>;

/** A client of the modules whose types `modgate client` has written. */
export interface Client<Paths> {
  /** Calls a GET route. */
  readonly GET: Call<Paths, 'get'>;
  /** Calls a PUT route. */
  readonly PUT: Call<Paths, 'put'>;
  /** Calls a POST route. */
  readonly POST: Call<Paths, 'post'>;
  /** Calls a DELETE route. */
  readonly DELETE: Call<Paths, 'delete'>;
  /** Calls a PATCH route. */
  readonly PATCH: Call<Paths, 'patch'>;
  /**
   * Reads all pages of a GET route with `cursor` in its query and `next_cursor` in its data, until the
   * last one or the first failure.
   */
  pages<Path extends PathsOfPages<Paths>, Given extends Init<Operation<Paths, Path, 'get'>>>(
    path: Path,
    ...init: Arguments<Given>
  ): AsyncGenerator<Result<Operation<Paths, Path, 'get'>, Given>, void, undefined>;
  /** Adds middleware of openapi-fetch. */
  use(...middleware: Middleware[]): void;
  /** Removes middleware. */
  eject(...middleware: Middleware[]): void;
}
