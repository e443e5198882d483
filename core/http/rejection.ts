import type { IncomingMessage } from 'node:http';
import type { Roles } from '../auth/roles.js';
import type { Rejection } from '../contract/call-record.js';
import type { ErrorDetail, HostError } from '../errors.js';
import type { MountSource } from '../modules/mount-table.js';
import type { CompletedRequest } from '../observability/completed-request.js';
import { createRequestFacts, type ParsedTarget, type RequestFacts } from '../operations/request.js';
import type { RequestIds } from './request/caller-headers.js';
import { parseCalledTarget } from './request/target.js';

const MAX_ERRORS = 10;
/** The maximum length of the detail, and of all errors together. */
const MAX_TEXT_BYTES = 1024;
const MAX_NAMED_LENGTH = 256;
const REDACTED = '[redacted]';

/** Headers that hold credentials even if no authenticator reads them. */
const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'modgate-explain-as'];
/** Shorter cookies, such as a language, occur in many paths. */
const MIN_COOKIE_LENGTH = 8;

const NO_HEAD: RejectedRequest['req'] = { method: '', headers: {}, rawHeaders: [] };

interface RejectedRequest {
  readonly req: Pick<IncomingMessage, 'method' | 'headers' | 'rawHeaders'>;
  /** The target as on the request line. */
  readonly target: string;
  readonly parsed: ParsedTarget;
  readonly facts: Pick<RequestFacts, 'kind' | 'module' | 'route' | 'step' | 'token'>;
}

/** The context of a rejection besides the request. */
interface RejectionContext {
  /** Headers whose values are never recorded. */
  readonly credentialHeaders: readonly string[];
  readonly roles: Pick<Roles, 'describeHolders'>;
}

/**
 * Describes a rejected request for operators, without credentials: a client may write its own into
 * the path, and an error may repeat it.
 */
export function describeRejection(
  problem: HostError,
  { req, target, parsed, facts }: RejectedRequest,
  { credentialHeaders, roles }: RejectionContext,
): Rejection {
  const { holdsSecret, show } = createFilter(req, credentialHeaders);
  const { kind, module, route, token } = facts;
  // Browsers send no credentials with a preflight: the cause is an origin that is missing in the
  // setting.
  const isRefusedPage = problem.code === 'unauthorized' && isPreflight(req);
  const step = isRefusedPage ? 'origin' : facts.step;
  const path = target.split('?', 1)[0] ?? '';
  const namedModule = module === null ? findNamedModule(parsed) : null;
  const origin = step === 'origin' ? (req.headers.origin ?? null) : null;
  return {
    code: problem.code,
    ...cutTexts(
      holdsSecret(problem.detail) ? REDACTED : problem.detail,
      problem.errors.filter(({ field, reason }) => !holdsSecret(`${field} ${reason}`)),
    ),
    step,
    reason: isRefusedPage ? 'origin' : problem.reason,
    module_named: show(namedModule),
    // The route of a surface is its prefix.
    path_named: (route === null || kind === 'surface') && path !== '' ? show(path) : null,
    token: token && escapeText(token),
    roles: problem.missingScope && roles.describeHolders(problem.missingScope),
    origin: show(origin),
  };
}

const GAPS = {
  method: 'the preflight asked for a method that pages of other origins may not use',
  headers: 'the preflight asked for a header that cors does not allow',
} as const;

/** Describes a preflight whose response makes the browser omit the request of the page. */
export function describePreflight(
  gap: keyof typeof GAPS,
  { req, target, parsed }: Pick<RejectedRequest, 'req' | 'target' | 'parsed'>,
  { credentialHeaders }: Pick<RejectionContext, 'credentialHeaders'>,
): Rejection {
  const { show } = createFilter(req, credentialHeaders);
  return {
    code: null,
    detail: GAPS[gap],
    errors: [],
    step: 'origin',
    reason: gap,
    module_named: show(findNamedModule(parsed)),
    path_named: show(target.split('?', 1)[0] ?? ''),
    token: null,
    roles: null,
    origin: show(req.headers.origin ?? ''),
  };
}

function isPreflight({ method, headers }: RejectedRequest['req']): boolean {
  const isAsking = headers['access-control-request-method'] !== undefined;
  return method === 'OPTIONS' && headers.origin !== undefined && isAsking;
}

/**
 * Completes a request that was rejected before it was handled. @param request `null` if its head
 * could not be parsed
 */
export function completeRejected(
  problem: HostError,
  { requestId, correlationId }: RequestIds,
  {
    request,
    address,
  }: { readonly request: IncomingMessage | null; readonly address: string | null },
  context: RejectionContext,
  mounts: MountSource,
): CompletedRequest {
  const facts = { ...createRequestFacts(), step: problem.step };
  const req = request ?? NO_HEAD;
  const target = request?.url ?? '';
  const parsed = parseCalledTarget(target, req.headers.host, mounts);
  const rejected = { req, target, parsed, facts };
  return {
    requestId,
    correlationId,
    actor: null,
    actorKind: null,
    client: address,
    scopes: null,
    rejection: describeRejection(problem, rejected, context),
    facts,
    isMalformed: true,
    method: request?.method ?? '',
    status: problem.status,
    bytesOut: 0,
    durationMs: 0,
    completedAt: Date.now(),
    call: null,
  };
}

function findNamedModule(parsed: ParsedTarget): string | null {
  return parsed.kind === 'host' ? null : parsed.module;
}

/** Creates a filter that hides texts with credentials of the request from records. */
function createFilter(
  { rawHeaders }: RejectedRequest['req'],
  credentialHeaders: readonly string[],
) {
  const secrets = listSecrets(rawHeaders, credentialHeaders);
  const holdsSecret = (text: string) => secrets.some((secret) => holds(text, secret));
  const show = (text: string | null) =>
    text === null || holdsSecret(text) ? null : escapeText(text);
  return { holdsSecret, show };
}

/** All credentials of the request, as sent and without their scheme. */
function listSecrets(raw: readonly string[], credentialHeaders: readonly string[]): string[] {
  const names = new Set([...SECRET_HEADERS, ...credentialHeaders]);
  const secrets: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = (raw[index + 1] ?? '').trim();
    if (value === '' || !names.has(name)) continue;
    if (name === 'cookie') {
      const values = value.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
      secrets.push(...values.filter(({ length }) => length >= MIN_COOKIE_LENGTH));
      continue;
    }
    const [scheme = '', token = ''] = value.split(/ +/, 2);
    secrets.push(value, ...(token === '' ? [] : [token]));
    if (scheme.toLowerCase() === 'basic') secrets.push(...splitBasic(token));
  }
  return secrets;
}

/** The name and the password. */
function splitBasic(token: string): string[] {
  const text = Buffer.from(token, 'base64').toString('latin1');
  const password = text.slice(text.indexOf(':') + 1);
  return [text, password].filter((part) => part !== '');
}

/** Whether the text contains the secret in any encoding of a path. */
function holds(text: string, secret: string): boolean {
  let decoded = text;
  for (let round = 0; round < 3; round += 1) {
    if (decoded.includes(secret)) return true;
    const next = decoded.replace(/%[0-9a-f]{2}/gi, (code) =>
      String.fromCharCode(Number.parseInt(code.slice(1), 16)),
    );
    if (next === decoded) return false;
    decoded = next;
  }
  return false;
}

/** Escapes anything but visible ASCII, so that a line of a log or terminal stays one line. */
function escapeText(text: string): string {
  const escaped = text.replace(/[^ -~]/g, (character) =>
    encodeURIComponent(character.toWellFormed()),
  );
  return escaped.slice(0, MAX_NAMED_LENGTH);
}

function cutTexts(
  detail: string,
  errors: readonly ErrorDetail[],
): Pick<Rejection, 'detail' | 'errors'> {
  const fitting: ErrorDetail[] = [];
  const text = cutText(detail, MAX_TEXT_BYTES);
  let remainingBytes = MAX_TEXT_BYTES - Buffer.byteLength(text);
  for (const { field, reason } of errors.slice(0, MAX_ERRORS)) {
    remainingBytes -= Buffer.byteLength(`${field}${reason}`);
    if (remainingBytes < 0) break;
    fitting.push({ field, reason });
  }
  return { detail: text, errors: fitting };
}

/** Cuts between characters. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.toWellFormed().replaceAll('\0', '\ufffd'));
  if (bytes.length <= maxBytes) return text;
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true });
}
