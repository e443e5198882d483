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
import { createProblemResult, createTextBlock, type ToolResult } from './tool-error.js';

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
  if (isExactObject(structure)) return { content: blocks, structuredContent };
  if (structure === undefined || structuredContent === null) return { content: blocks };
  return { content: withStructure(blocks, structure.text) };
}

/** The blocks of a result whose structure is not passed on: its JSON where there is nothing else to read. */
export function withStructure(content: ToolResult['content'], json: string): ToolResult['content'] {
  return content.length === 0 ? [createTextBlock(json)] : content;
}

/**
 * Clients reject a whole result for a block of a type that they do not know: its JSON becomes a text.
 * A result without blocks may have its structure alone.
 * @returns `null` for blocks that are no list
 */
function readContent(result: ExactValue | null): readonly unknown[] | null {
  if (result?.kind !== 'object') return null;
  const content = findMember(result, 'content');
  if (content === undefined) return [];
  if (content.kind !== 'array') return null;
  return content.items.map((item) => {
    const block = toPlain(item);
    const { type } = Object(block) as { type?: unknown };
    if (typeof type !== 'string' || Object.hasOwn(MEMBERS, type)) return block;
    return createTextBlock(item.text);
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
    ...keepAnnotations(annotations),
  };
}

function keepResource({ uri, mimeType, text, blob }: ResourceContent): ResourceContent {
  const type = typeof mimeType === 'string' ? { mimeType } : {};
  if (typeof text === 'string') return { uri, ...type, text };
  return { uri, ...type, ...(typeof blob === 'string' && { blob }) };
}

const AUDIENCE: ReadonlySet<unknown> = new Set(['user', 'assistant']);

/** ISO 8601 with an offset. */
const LAST_MODIFIED =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** What clients accept as the value of each annotation. */
const ANNOTATIONS: Readonly<Record<string, (value: unknown) => boolean>> = {
  audience: (value) => Array.isArray(value) && value.every((one) => AUDIENCE.has(one)),
  priority: (value) => typeof value === 'number' && value >= 0 && value <= 1,
  lastModified: (value) => typeof value === 'string' && LAST_MODIFIED.test(value),
};

function keepAnnotations(annotations: unknown): object {
  const kept = Object.entries(ANNOTATIONS).flatMap(([name, isGood]): [string, unknown][] => {
    const value: unknown = Reflect.get(Object(annotations), name);
    return isGood(value) ? [[name, value]] : [];
  });
  return kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) };
}

/** The length of its bytes in base64, which is ASCII. */
function mediaBytesOf(block: ContentBlock): number {
  if (block.type === 'image' || block.type === 'audio') return block.data.length;
  return block.type === 'resource' ? (block.resource.blob?.length ?? 0) : 0;
}

function textBytesOf(block: ContentBlock): number {
  return Buffer.byteLength(JSON.stringify(block)) - mediaBytesOf(block);
}
