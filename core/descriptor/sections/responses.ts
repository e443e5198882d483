import { isDeepStrictEqual } from 'node:util';
import { array, define, enums, type Infer } from 'superstruct';
import { described, filledIn, optionally, withDefault } from '../../contract/described.js';
import type { Violation } from '../../document/diagnostic.js';
import { HOP_BY_HOP, normalizeHeaderName, REQUEST_IDS } from '../../lib/header-names.js';
import { readMember } from '../../lib/read-member.js';
import { isTrustworthyOrigin } from '../../lib/web-origin.js';
import { headerNames, validateHeaderNames } from '../header-lists.js';
import { defineSection } from '../section.js';
import { mapping } from '../struct-members.js';

/**
 * `envelope`: 200 with eight members, one of them the provider's JSON. `raw`: the provider's own status and
 * JSON.
 */
const RESPONSE_MODES = ['envelope', 'raw'] as const;

/** `openai`: Problems also have the member that clients of OpenAI-compatible services read. */
const PROBLEM_FORMS = ['problem', 'openai'] as const;

export type ProblemForm = (typeof PROBLEM_FORMS)[number];

type ResponseMode = (typeof RESPONSE_MODES)[number];

/** The parts of a response that callers receive. */
export interface Responses {
  readonly mode: ResponseMode;
  /** Response headers of the provider that callers receive; lower-case names. */
  readonly expose_headers: readonly string[];
  /** Other origins of the provider. */
  readonly origins: readonly string[];
  /** The word `module`, and origins. */
  readonly redirects: readonly string[];
  readonly problems: ProblemForm;
}

/** Allows redirects to a path below an endpoint of the module. */
export const MODULE_REDIRECTS = 'module';

/** The exposed headers of a descriptor that names none. */
const DEFAULT_EXPOSED: Readonly<Record<ResponseMode, readonly string[]>> = {
  envelope: [],
  raw: [
    'etag',
    'last-modified',
    'location',
    'link',
    'cache-control',
    'vary',
    'retry-after',
    'content-language',
    'x-total-count',
  ],
};

/** Whether callers receive the envelope without headers of the provider. */
export function isPlainEnvelope({ mode, expose_headers }: Responses): boolean {
  return mode === 'envelope' && expose_headers.length === 0;
}

/** Headers for framing and connections, and those that would apply to the origin of the host. */
const DENIED_HEADERS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...REQUEST_IDS,
  'alt-svc',
  'clear-site-data',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'server',
  'service-worker-allowed',
  'set-cookie',
  'strict-transport-security',
  'via',
]);

const DENIED_PREFIXES = [
  'access-control-',
  'content-security-policy',
  'modgate-',
  'proxy-',
  'surrogate-',
];

/**
 * The reason why a header must not be listed in `responses.expose_headers`; `null` if it may be.
 */
function explainUnexposable(name: string): string | null {
  const plain = normalizeHeaderName(name);
  if (DENIED_HEADERS.has(plain)) return 'callers never get this header';
  const prefix = DENIED_PREFIXES.find((start) => plain.startsWith(start));
  return prefix === undefined ? null : `callers never get headers that start with ${prefix}`;
}

const trustworthyOrigin = described(
  define<string>(
    'an https origin, or an http origin on loopback, without a path',
    (value) => typeof value === 'string' && isTrustworthyOrigin(value),
  ),
  { type: 'string' },
);

const redirectTarget = described(
  define<string>(
    `'${MODULE_REDIRECTS}', or an https origin without a path`,
    (value) =>
      value === MODULE_REDIRECTS || (typeof value === 'string' && isTrustworthyOrigin(value)),
  ),
  { type: 'string' },
);

const members = mapping('responses', 'What callers get of a response of the provider.', {
  mode: withDefault(enums(RESPONSE_MODES), 'envelope', {
    description:
      "What callers get: envelope is 200 with the provider's JSON in data; raw is the provider's status and JSON.",
  }),
  expose_headers: optionally(headerNames, {
    description: `Response headers of the provider that callers get. Default: none in the envelope; in raw mode ${DEFAULT_EXPOSED.raw.join(', ')}.`,
  }),
  origins: withDefault(array(trustworthyOrigin), [], {
    description:
      'Other origins of the same provider: references to them are rewritten like those to an endpoint.',
  }),
  redirects: withDefault(array(redirectTarget), [], {
    description:
      "In raw mode, redirects that callers get: 'module' for those below an endpoint, or exact origins. The host follows none.",
  }),
  problems: withDefault(enums(PROBLEM_FORMS), 'problem', {
    description:
      "The form of the host's own errors: openai adds error, which clients of OpenAI-compatible services read.",
  }),
});

type WireResponses = Infer<typeof members>;

export const responses = defineSection({
  struct: filledIn(members),
  validate: ({ expose_headers = [] }) =>
    validateHeaderNames(expose_headers, ['responses', 'expose_headers'], {
      rule: 'unexposable-header',
      explain: explainUnexposable,
    }),
  warn: (wire, written) => [...findNeedlessErrors(wire, written), ...findRedirects(wire)],
  complete: ({ mode, expose_headers = DEFAULT_EXPOSED[mode], ...others }): Responses => {
    return { mode, expose_headers, ...others };
  },
  shown: { of: 'served', read: describeResponses },
  isFreeChange: ({ expose_headers: _after, ...after }, { expose_headers: _before, ...before }) =>
    isDeepStrictEqual(after, before),
});

export const providerErrors = defineSection({
  struct: withDefault(enums(['problem', 'passthrough']), 'problem', {
    description:
      "passthrough returns a provider's 400, 404, 409, 410, 412, 422 and 429 to the client; problem answers 502. No effect in raw mode.",
  }),
  // In raw mode every error of the provider reaches the caller.
  complete: (value, { responses }: { readonly responses: WireResponses }) =>
    responses.mode === 'raw' ? 'problem' : value,
});

/** Absent for the envelope without headers of the provider; omits members that are empty by default. */
function describeResponses(responses: Responses) {
  const { origins, redirects, problems, ...always } = responses;
  if (isPlainEnvelope(responses) && problems === 'problem') return undefined;
  return {
    ...always,
    ...(origins.length > 0 && { origins }),
    ...(redirects.length > 0 && { redirects }),
    ...(problems !== 'problem' && { problems }),
  };
}

function findNeedlessErrors({ mode }: WireResponses, written: unknown): Violation[] {
  if (mode !== 'raw' || readMember(written, 'provider_errors') === undefined) return [];
  const message =
    "'provider_errors' has no effect in raw mode, where callers get every error of the provider";
  const path = ['provider_errors'];
  return [{ rule: 'needless-option', message, hint: 'remove it', path, at: 'key' }];
}

/** Warns of redirects, because clients may send their credentials to the target. */
function findRedirects({ mode, redirects }: WireResponses): Violation[] {
  return redirects.flatMap((target, index): Violation[] => {
    const path = ['responses', 'redirects', index];
    const subject = `'responses.redirects[${index}]'`;
    if (mode !== 'raw') {
      const message = `${subject} has no effect in the envelope, which carries no redirects`;
      return [{ rule: 'needless-option', message, hint: 'remove it', path, at: 'value' }];
    }
    if (target === MODULE_REDIRECTS) return [];
    const message = `${subject}: callers are sent to ${target}`;
    const hint = 'make sure that it belongs to the provider';
    return [{ rule: 'redirect-origin', message, hint, path, at: 'value' }];
  });
}
