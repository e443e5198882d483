import type { ContentBlock, ResourceContent } from '../../core/contract/index.js';
import type { CatalogEntry } from './catalog.js';
import {
  assertExactNumbers,
  type ExactValue,
  findMember,
  InexactJson,
  parseExact,
  toPlain,
} from './exact-json.js';
import { createTooLarge } from './too-large.js';
import { createProblemResult, type ToolResult } from './tool-error.js';

/** Beyond it the text is no result for a model. */
const MAX_VALUES = 1_000_000;

interface Answer {
  readonly status: number;
  readonly requestId: string;
}

/** The result that a tool of a provider has answered, block for block. */
export function readToolResult(entry: CatalogEntry, text: string, answer: Answer): ToolResult {
  const result = parse(text);
  const content = readContent(result);
  const { isError, structuredContent } = Object(result && toPlain(result));
  if (result === null || content === null || !content.every(isBlock)) {
    return createProblemResult({
      code: 'provider_error',
      detail: 'the service answered with something other than the result of a tool',
      request_id: answer.requestId,
      next_actions: ['tell the user that the service does not work as declared'],
    });
  }
  const structure = findMember(result, 'structuredContent');
  const media = content.reduce((sum, block) => sum + mediaBytesOf(block), 0);
  const structureBytes = structure === undefined ? 0 : Buffer.byteLength(structure.text);
  const others = content.reduce((sum, block) => sum + textBytesOf(block), structureBytes);
  const { maxMediaBytes, maxResultBytes } = entry.operation;
  if (media > maxMediaBytes)
    return createTooLarge(entry, { ...answer, bytes: media, isMedia: true });
  if (others > maxResultBytes) return createTooLarge(entry, { ...answer, bytes: others });
  const blocks = content.map(keepKnown) as ToolResult['content'];
  if (isError === true) return { content: blocks, isError: true };
  return { content: blocks, ...(isExactObject(structure) && { structuredContent }) };
}

/**
 * Clients reject a whole result for a block of a type that they do not know: its JSON becomes a text.
 * @returns `null` without a list of blocks
 */
function readContent(result: ExactValue | null): readonly unknown[] | null {
  const content = result === null ? undefined : findMember(result, 'content');
  if (content?.kind !== 'array') return null;
  return content.items.map((item) => {
    const block = toPlain(item);
    const { type } = Object(block) as { type?: unknown };
    if (typeof type !== 'string' || Object.hasOwn(MEMBERS, type)) return block;
    return { type: 'text', text: item.text };
  });
}

function parse(text: string): ExactValue | null {
  try {
    return parseExact(text, MAX_VALUES);
  } catch (error) {
    if (error instanceof InexactJson) return null;
    throw error;
  }
}

/** Whether a parser changes nothing of it. */
function isExactObject(value: ExactValue | undefined): boolean {
  if (value?.kind !== 'object') return false;
  try {
    assertExactNumbers(value);
    return true;
  } catch (error) {
    if (error instanceof InexactJson) return false;
    throw error;
  }
}

/** The members that a block of each type must have, all of them texts. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name'],
};

function isBlock(block: unknown): block is ContentBlock {
  const { type, resource } = Object(block) as { type?: unknown; resource?: unknown };
  if (type === 'resource') return isResource(resource);
  const names = typeof type === 'string' && Object.hasOwn(TEXTS, type) ? TEXTS[type] : undefined;
  return names?.every((name) => isText(block, name)) === true;
}

function isResource(resource: unknown): resource is ResourceContent {
  return isText(resource, 'uri') && (isText(resource, 'text') || isText(resource, 'blob'));
}

function isText(value: unknown, name: string): boolean {
  return typeof Reflect.get(Object(value), name) === 'string';
}

const MEMBERS: Readonly<Record<ContentBlock['type'], readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri', 'name', 'title', 'description', 'mimeType'],
  resource: ['resource'],
};

/** Clients reject a whole result for one member that is wrong, so others are left out. */
function keepKnown(block: ContentBlock): object {
  const { type, annotations } = block;
  const kept = type === 'resource' ? { ...block, resource: keepResource(block.resource) } : block;
  const members = MEMBERS[type].flatMap((name): [string, unknown][] => {
    const value: unknown = Reflect.get(kept, name);
    return typeof value === 'string' || name === 'resource' ? [[name, value]] : [];
  });
  const size = type === 'resource_link' && Number.isSafeInteger(block.size) && block.size;
  return {
    type,
    ...Object.fromEntries(members),
    ...(typeof size === 'number' && { size }),
    ...(areAnnotations(annotations) && { annotations }),
  };
}

function keepResource({ uri, mimeType, text, blob }: ResourceContent): ResourceContent {
  const type = typeof mimeType === 'string' ? { mimeType } : {};
  if (typeof text === 'string') return { uri, ...type, text };
  return { uri, ...type, ...(typeof blob === 'string' && { blob }) };
}

const AUDIENCE: ReadonlySet<unknown> = new Set(['user', 'assistant']);

function areAnnotations(annotations: unknown): boolean {
  if (typeof annotations !== 'object' || annotations === null) return false;
  return Object.entries(annotations).every(([name, value]) => {
    if (name === 'audience') return Array.isArray(value) && value.every((one) => AUDIENCE.has(one));
    return name === 'priority' && typeof value === 'number' && value >= 0 && value <= 1;
  });
}

/** The length of its bytes in base64, which is ASCII. */
function mediaBytesOf(block: ContentBlock): number {
  if (block.type === 'image' || block.type === 'audio') return block.data.length;
  return block.type === 'resource' ? (block.resource.blob?.length ?? 0) : 0;
}

function textBytesOf(block: ContentBlock): number {
  return Buffer.byteLength(JSON.stringify(block)) - mediaBytesOf(block);
}
