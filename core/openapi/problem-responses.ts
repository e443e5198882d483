import { PROBLEM_CODES, PROBLEMS, PROTOCOL_STATUSES, type ProblemCode } from '../errors.js';
import { PASSTHROUGH_STATUSES } from '../passthrough-statuses.js';
import type { DescribedHost, DescribedModule } from './described-module.js';

const selectCodes = (when: (typeof PROBLEMS)[ProblemCode]['onRoutes']) =>
  PROBLEM_CODES.filter((code) => PROBLEMS[code].onRoutes === when);

/** The additional status of byte routes. */
const RANGE_NOT_SATISFIABLE = 416;

/** The codes of Problems that a client of a route can receive. */
const CODES = selectCodes('always');
const PASSED_ON_CODES = selectCodes('passthrough');
const STREAM_CODES = [...selectCodes('streamed'), ...selectCodes('events')];

/** `ValidationFailedProblem`; the names of module components differ, because they contain a dot. */
function nameSchema(code: ProblemCode): string {
  return `${toWords(code)}Problem`;
}

function toWords(code: ProblemCode): string {
  return code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Named by what it describes, so that it is the same whatever else is in the document. */
function nameResponse(codes: readonly ProblemCode[], isRaw: boolean): string {
  return `${codes.map(toWords).join('Or')}${isRaw ? 'OrRaw' : ''}`;
}

const referTo = (kind: 'schemas' | 'responses', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

/** Creates the schemas of all Problems, and `Problem`, which matches any of them. */
export function createProblemSchemas(): Record<string, unknown> {
  const codes = [...CODES, ...STREAM_CODES, ...PASSED_ON_CODES];
  const schemas = codes.map((code) => [nameSchema(code), createProblemSchema(code)]);
  return {
    Problem: anyOf(codes),
    ProblemDetail: {
      type: 'object',
      required: ['field', 'reason'],
      properties: { field: { type: ['string', 'null'] }, reason: { type: 'string' } },
      additionalProperties: false,
    },
    ...Object.fromEntries(schemas),
  };
}

function anyOf(codes: readonly ProblemCode[]) {
  const references = codes.map((code) => referTo('schemas', nameSchema(code)));
  const mapping = Object.fromEntries(
    codes.map((code, index) => [code, references[index]?.$ref ?? '']),
  );
  return { oneOf: references, discriminator: { propertyName: 'code', mapping } };
}

/** Only of modules with `responses.problems: openai`. */
const OPENAI_ERROR = {
  type: 'object',
  required: ['message', 'type', 'param', 'code'],
  properties: {
    message: { type: 'string' },
    type: { type: 'string' },
    param: { type: 'null' },
    code: { type: 'string' },
  },
  additionalProperties: false,
};

function createProblemSchema(code: ProblemCode) {
  return {
    type: 'object',
    required: [
      'type',
      'title',
      'status',
      'code',
      'detail',
      'request_id',
      'correlation_id',
      'errors',
    ],
    properties: {
      type: { const: `/problems/${code}` },
      title: { const: PROBLEMS[code].title },
      status: { type: 'integer', enum: listStatuses(code) },
      code: { const: code },
      detail: { type: 'string' },
      request_id: { type: 'string' },
      correlation_id: { type: 'string' },
      errors: { type: 'array', items: referTo('schemas', 'ProblemDetail') },
      next_actions: { type: 'array', items: { type: 'string' } },
      error: OPENAI_ERROR,
    },
    additionalProperties: false,
  };
}

function listStatuses(code: ProblemCode): readonly number[] {
  if (code === 'provider_error') return [...PASSTHROUGH_STATUSES, RANGE_NOT_SATISFIABLE];
  const { status } = PROBLEMS[code];
  return code === 'validation_failed' ? [status, ...PROTOCOL_STATUSES] : [status];
}

/** The shared responses of a host; routes of modules with the same settings refer to them. */
export class ProblemResponses {
  readonly components: Record<string, unknown> = {};
  readonly #bySettings = new Map<string, Buffer>();
  readonly #limitsCallers: boolean;

  constructor({ limitsCallers }: Pick<DescribedHost, 'limitsCallers'>) {
    this.#limitsCallers = limitsCallers;
  }

  /** Writes the responses of the routes of a module except 200: members as JSON text, in UTF-8. */
  of({ descriptor, routes }: Pick<DescribedModule, 'descriptor' | 'routes'>): Buffer {
    const { rate, responses, provider_errors } = descriptor;
    const isLimited =
      this.#limitsCallers ||
      routes.entries.some(({ value }) => value.stream !== null || value.isWebSocket) ||
      [rate.per_second, rate.actor_per_second, rate.client_per_second].some((limit) => limit > 0);
    const isRaw = responses.mode === 'raw';
    const isPassing = provider_errors === 'passthrough';
    const key = `${isLimited} ${isRaw} ${isPassing}`;
    const cached =
      this.#bySettings.get(key) ??
      Buffer.from(JSON.stringify(this.#create(isLimited, isRaw, isPassing)).slice(1, -1));
    this.#bySettings.set(key, cached);
    return cached;
  }

  #create(isLimited: boolean, isRaw: boolean, isPassing: boolean): Record<string, unknown> {
    const byStatus = new Map<number, ProblemCode[]>();
    const add = (status: number, code: ProblemCode) => {
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    };
    for (const code of CODES) {
      if (code === 'rate_limited' && !isLimited) continue;
      for (const status of listStatuses(code)) add(status, code);
    }
    if (isPassing) for (const status of PASSTHROUGH_STATUSES) add(status, 'provider_error');
    const statuses = [...byStatus].sort(([a], [b]) => a - b);
    return Object.fromEntries(
      statuses.map(([status, codes]) => {
        const name = nameResponse(codes, isRaw);
        this.components[name] ??= isRaw ? createRawResponse(codes) : createResponse(codes);
        return [status, referTo('responses', name)];
      }),
    );
  }
}

function createResponse(codes: readonly ProblemCode[]) {
  const titles = codes.map((code) => PROBLEMS[code].title);
  return { description: titles.join(' or '), content: jsonContent(anyOf(codes)) };
}

/** In raw mode the provider's statuses are forwarded, so its body may be any JSON. */
function createRawResponse(codes: readonly ProblemCode[]) {
  const titles = codes.map((code) => PROBLEMS[code].title);
  return {
    description: `${titles.join(' or ')} (modgate-origin: host), or the provider's own response (modgate-origin: provider)`,
    content: jsonContent({ anyOf: [anyOf(codes), {}] }),
  };
}

function jsonContent(schema: unknown) {
  return { 'application/json': { schema }, 'application/problem+json': { schema } };
}
