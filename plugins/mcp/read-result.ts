import { describeForAgent } from './agent-problem.js';
import type { Arguments } from './build-call.js';
import type { CatalogEntry } from './catalog.js';
import {
  createProblemResult,
  createTextResult,
  type ToolProblem,
  type ToolResult,
} from './tool-error.js';

const MIN_ERROR_STATUS = 400;
/** The status of a call that no person has approved. */
const ACCEPTED = 202;
const BEFORE_DATA = '},"data":';
/** Preserves every character of the provider. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Converts a response of the host to the result of a tool: the provider's bytes, or the reason
 * without them.
 */
export async function readResult(
  entry: CatalogEntry,
  values: Arguments,
  response: Response,
  requestId: string,
): Promise<ToolResult> {
  const { kind, response: mode } = entry.operation;
  const text = UTF8.decode(await response.arrayBuffer());
  const isOfHost = response.headers.get('modgate-origin') === 'host';
  if (response.status >= MIN_ERROR_STATUS) {
    const isProblem = kind !== 'route' || mode === 'envelope' || isOfHost;
    const problem = isProblem ? readProblem(text, requestId) : null;
    if (problem === null) return createTextResult(text, true);
    return createProblemResult(describeForAgent(problem, entry, values));
  }
  if (isOfHost && response.status === ACCEPTED) return createUnapproved(text, requestId);
  if (mode === 'bytes') return createTextResult(text);
  const data = mode === 'envelope' ? readData(text) : text;
  if (entry.tools.describe(entry).tool.outputSchema === undefined) return createTextResult(data);
  // The host has enforced the schema, which admits only objects that survive a parse.
  return { ...createTextResult(data), structuredContent: JSON.parse(data) };
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
 * The bytes of `data`, the last member of the envelope. They follow the parameters of the path, the
 * only other object: in their texts, a quote is escaped.
 */
function readData(text: string): string {
  const before = text.indexOf(BEFORE_DATA);
  if (before === -1) throw new Error('the envelope has no data');
  return text.slice(before + BEFORE_DATA.length, -1);
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
