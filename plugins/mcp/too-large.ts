import type { CatalogEntry } from './catalog.js';
import { createProblemResult, type ToolResult } from './tool-error.js';

const MIN_ERROR_STATUS = 400;

/** The error for a result that is longer than an agent may get. */
export function createTooLarge(
  entry: CatalogEntry,
  {
    bytes,
    status,
    requestId: request_id,
    isMedia = false,
  }: {
    readonly bytes: number;
    readonly status: number;
    readonly requestId: string;
    /** Whether images, audio and blobs are too long. Default false. */
    readonly isMedia?: boolean;
  },
): ToolResult {
  const { maxResultBytes, maxMediaBytes, arguments: declared } = entry.operation;
  const limit = isMedia ? maxMediaBytes : maxResultBytes;
  const [subject, setting] = isMedia
    ? ['the media of its result have', 'mcp.media_bytes']
    : ['its result has', 'mcp.result_bytes'];
  const narrowing = declared
    .filter(({ place }) => place !== 'path' && place !== 'body')
    .map(({ name }) => name);
  const outcome = status < MIN_ERROR_STATUS ? 'was made' : `failed with status ${status}`;
  return createProblemResult({
    code: 'result_too_large',
    detail: `the call of ${entry.name} ${outcome}, and ${subject} ${bytes} bytes: expected at most ${limit}`,
    request_id,
    bytes,
    limit,
    arguments: narrowing,
    next_actions: [
      entry.operation.reads
        ? adviseOnRead(narrowing)
        : 'do not repeat the call: it may change data again',
      `ask an operator to raise ${setting} of module ${entry.module} if the whole is needed`,
    ],
  });
}

function adviseOnRead(narrowing: readonly string[]): string {
  return narrowing.length === 0
    ? 'call another tool that returns less: no argument narrows this result'
    : `call the tool again with arguments that narrow the result: ${narrowing.join(', ')}`;
}
