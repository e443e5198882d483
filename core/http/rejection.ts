import type { IncomingMessage } from 'node:http';
import type { Roles } from '../auth/roles.js';
import type { Rejection } from '../contract/call-record.js';
import type { ErrorDetail, HostError } from '../errors.js';
import type { MountSource } from '../modules/mount-table.js';
import type { CompletedRequest } from '../observability/completed-request.js';
import { createRequestFacts, type ParsedTarget, type RequestFacts } from '../operations/request.js';
import { CredentialFilter } from './credential-filter.js';
import type { RequestIds } from './request/caller-headers.js';
import { parseCalledTarget } from './request/target.js';
import { findParserCode } from './server/parser-code.js';

const MAX_ERRORS = 10;
/** The maximum length of the detail, and of all errors together. */
const MAX_TEXT_BYTES = 1024;
const MAX_NAMED_LENGTH = 256;
const MAX_REASON_DETAIL_LENGTH = 64;
const REDACTED = '[redacted]';

const NO_HEAD: RejectedRequest['req'] = { method: '', headers: {}, rawHeaders: [] };

interface RejectedRequest {
  readonly req: Pick<IncomingMessage, 'method' | 'headers' | 'rawHeaders'>;
  /** The target as on the request line. */
  readonly target: string;
  readonly parsed: ParsedTarget;
  readonly facts: Pick<RequestFacts, 'kind' | 'module' | 'route' | 'step' | 'token'>;
}

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
  const filter = new CredentialFilter(req.rawHeaders, credentialHeaders);
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
    ...cutTexts(problem, filter),
    step,
    reason: isRefusedPage ? 'origin' : problem.reason,
    reason_detail:
      problem.reasonDetail && escapeText(problem.reasonDetail, MAX_REASON_DETAIL_LENGTH),
    module_named: showText(namedModule, filter),
    // The route of a surface is its prefix.
    path_named:
      (route === null || kind === 'surface') && path !== '' ? showText(path, filter) : null,
    token: token && escapeText(token),
    roles: problem.missingScope && roles.describeHolders(problem.missingScope),
    origin: showText(origin, filter),
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
  const filter = new CredentialFilter(req.rawHeaders, credentialHeaders);
  return {
    code: null,
    detail: GAPS[gap],
    errors: [],
    step: 'origin',
    reason: gap,
    reason_detail: null,
    module_named: showText(findNamedModule(parsed), filter),
    path_named: showText(target.split('?', 1)[0] ?? '', filter),
    token: null,
    roles: null,
    origin: showText(req.headers.origin ?? '', filter),
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
  const facts = {
    ...createRequestFacts(),
    step: problem.step,
    failure_detail: findParserCode(problem),
  };
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
  if (parsed.kind === 'host') return null;
  return parsed.kind === 'unmatched'
    ? (parsed.module ?? parsed.invalidModule ?? null)
    : parsed.module;
}

/** The text as it is recorded; `null` if it contains a credential. */
function showText(text: string | null, filter: CredentialFilter): string | null {
  if (text === null || filter.holdsSecret(text, MAX_NAMED_LENGTH)) return null;
  return escapeText(text);
}

/** Escapes anything but visible ASCII, so that a line of a log or terminal stays one line. */
function escapeText(text: string, maxLength = MAX_NAMED_LENGTH): string {
  const escaped = text
    .slice(0, maxLength)
    .replace(/[^ -~]/g, (character) => encodeURIComponent(character.toWellFormed()));
  return escaped.slice(0, maxLength);
}

function cutTexts(
  { detail, errors }: HostError,
  filter: CredentialFilter,
): Pick<Rejection, 'detail' | 'errors'> {
  const fitting: ErrorDetail[] = [];
  const text = filter.holdsSecret(detail, MAX_TEXT_BYTES)
    ? REDACTED
    : cutText(detail, MAX_TEXT_BYTES);
  let remainingBytes = MAX_TEXT_BYTES - Buffer.byteLength(text);
  for (const { field, reason } of errors.slice(0, MAX_ERRORS)) {
    if (filter.holdsSecret(`${field} ${reason}`, MAX_TEXT_BYTES)) continue;
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
