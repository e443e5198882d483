import { describeForAgent, type MadeCall } from './agent-problem.js';
import { readBounded } from './bounded-body.js';
import type { CatalogEntry } from './catalog.js';
import { createTooLarge } from './too-large.js';
import {
  createProblemResult,
  createTextResult,
  type ToolProblem,
  type ToolResult,
} from './tool-error.js';
import { readToolResult } from './tool-result.js';

const MIN_ERROR_STATUS = 400;
const JSON_TYPE = /^application\/(?:[^;]+\+)?json\b/i;
const STREAMED = {
  code: 'provider_error',
  detail:
    'the service answered with a stream of events or of bytes, which this tool does not return',
  next_actions: ['choose a response of JSON, if an argument decides it'],
};
/** The status of a call that no person has approved. */
const ACCEPTED = 202;
const BEFORE_DATA = Buffer.from('},"data":');
/** The members of the envelope before the data, and any Problem, are shorter. Bytes. */
const MAX_HOST_BYTES = 65_536;
/** Preserves every character of the provider. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Converts a response of the host to the result of a tool: the provider's bytes, or the reason
 * without them. Holds no more of it than a result may have.
 */
export async function readResult(
  entry: CatalogEntry,
  response: Response,
  call: MadeCall,
): Promise<ToolResult> {
  const { tool, requestId } = call;
  const { operation } = entry;
  const { kind, response: mode, maxResultBytes } = operation;
  const { status } = response;
  const type = response.headers.get('content-type');
  const isJson = mode === 'bytes' || type === null || JSON_TYPE.test(type);
  if (status < MIN_ERROR_STATUS && !isJson) {
    await response.body?.cancel();
    return createProblemResult({ ...STREAMED, request_id: requestId });
  }
  const { isTool, maxMediaBytes } = operation;
  const maxBytes = isTool ? maxResultBytes + maxMediaBytes : maxResultBytes;
  const { bytes, length } = await readBounded(response, maxBytes + MAX_HOST_BYTES);
  const isOfHost = response.headers.get('modgate-origin') === 'host';
  const isFailed = status >= MIN_ERROR_STATUS;
  if (isFailed && (kind !== 'route' || mode === 'envelope' || isOfHost)) {
    const problem = readProblem(UTF8.decode(bytes), requestId);
    if (problem !== null) return describeForAgent(problem, operation, call);
  }
  if (isOfHost && status === ACCEPTED) return createUnapproved(UTF8.decode(bytes), requestId);
  const hasEnvelope = mode === 'envelope' && !isFailed;
  const { start, end } = hasEnvelope ? findData(bytes) : { start: 0, end: 0 };
  const resultBytes = length - start - end;
  const answer = { status, requestId };
  if (resultBytes > maxBytes) return createTooLarge(entry, { ...answer, bytes: resultBytes });
  const text = UTF8.decode(bytes.subarray(start, length - end));
  if (isTool && !isFailed) {
    const result = readToolResult(entry, text, answer);
    const isWhole = tool.outputSchema === undefined || result.structuredContent !== undefined;
    // Clients reject a success without the structure that its schema promises.
    return isWhole || result.isError === true ? result : createUnstructured(entry, requestId);
  }
  if (isFailed || tool.outputSchema === undefined) {
    return createTextResult(text, isFailed);
  }
  // The host has enforced the schema, which admits only objects that survive a parse.
  return { ...createTextResult(text), structuredContent: JSON.parse(text) };
}

function createUnstructured({ name }: CatalogEntry, request_id: string): ToolResult {
  return createProblemResult({
    code: 'provider_error',
    detail: `the call of ${name} was made, and its result has no structure, or numbers that a parser would change`,
    request_id,
    next_actions: ['do not repeat the call: it may change data again'],
  });
}

/** The answer of the host to a call that no person has approved. */
interface UnapprovedCall {
  readonly status: 'pending' | 'rejected';
  readonly id: string;
  readonly expires_at: string;
  readonly reason?: string | null;
  /** The page on which a person decides, if its address is known. */
  readonly url?: string;
}

function createUnapproved(text: string, request_id: string): ToolResult {
  const { status, id, expires_at, reason = null, url } = JSON.parse(text) as UnapprovedCall;
  if (status === 'rejected') {
    const detail = `a person has rejected this call: ${reason ?? 'no reason was given'}`;
    const next_actions = [
      'do not repeat it, and do not try the same in another way',
      'tell the user that the call was rejected, and why',
    ];
    const members = { code: 'approval_rejected', detail, reason };
    const approval = { approval_id: id, expires_at };
    return createProblemResult({ ...members, request_id, ...approval, next_actions });
  }
  return createProblemResult({
    code: 'approval_required',
    detail: `a person has to approve this call: ${id}`,
    request_id,
    approval_id: id,
    expires_at,
    ...(url !== undefined && { approval_url: url }),
    next_actions: [
      `ask a person with the scope modgate.approvals to approve ${id}${url === undefined ? '' : ` at ${url}`}`,
      'repeat the same call after it is approved',
    ],
  });
}

/**
 * The bytes around `data`, the last member of the envelope. It follows the parameters of the path,
 * the only other object: in their texts, a quote is escaped.
 */
function findData(bytes: Buffer): { readonly start: number; readonly end: number } {
  const before = bytes.indexOf(BEFORE_DATA);
  if (before === -1) throw new Error('the envelope has no data');
  return { start: before + BEFORE_DATA.length, end: '}'.length };
}

function readProblem(text: string, requestId: string): ToolProblem | null {
  const problem = parseObject(text);
  if (typeof problem?.['code'] !== 'string') return null;
  const { code, detail, request_id, next_actions, errors } = problem;
  return {
    code,
    detail: String(detail),
    request_id: typeof request_id === 'string' ? request_id : requestId,
    next_actions: Array.isArray(next_actions) ? next_actions.map(String) : [],
    ...(Array.isArray(errors) && errors.length > 0 && { errors }),
  };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
