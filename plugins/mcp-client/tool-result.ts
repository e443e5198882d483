import { readMember } from './exchange.js';

const MAX_BLOCKS = 10_000;

/** The members that a block must have, by its type. A later revision may have other types. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
  resource: [],
};

interface ToolResult {
  readonly content?: unknown;
  readonly isError?: unknown;
}

/**
 * Finds what the protocol does not allow in the result of a tool. Not by the library, whose validation of many blocks
 * takes seconds.
 * @returns `null` for a good result
 */
export function findResultProblem(result: unknown): string | null {
  if (readMember(result, 'resultType') === 'input_required') {
    return 'the tool asks for input, which the host cannot give';
  }
  // Without `content`, a result has its structure alone.
  const { content = [], isError = false } = Object(result) as ToolResult;
  const isGood =
    typeof result === 'object' &&
    !Array.isArray(result) &&
    Array.isArray(content) &&
    content.length <= MAX_BLOCKS &&
    content.every(isBlock) &&
    typeof isError === 'boolean';
  return isGood ? null : 'the server sent a result that the protocol does not have';
}

function isBlock(block: unknown): boolean {
  const type = readMember(block, 'type');
  if (typeof type !== 'string') return false;
  if (type === 'resource') return isResource(readMember(block, 'resource'));
  const members = Object.hasOwn(BLOCKS, type) ? (BLOCKS[type] ?? []) : [];
  return members.every((name) => typeof readMember(block, name) === 'string');
}

function isResource(resource: unknown): boolean {
  const isText = typeof readMember(resource, 'text') === 'string';
  const isBlob = typeof readMember(resource, 'blob') === 'string';
  return typeof readMember(resource, 'uri') === 'string' && (isText || isBlob);
}
