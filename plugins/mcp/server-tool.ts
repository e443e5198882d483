import { escapeInvisible, type JsonSchema, type ManifestRoute } from '../../core/contract/index.js';
import {
  assertExactNumbers,
  type ExactValue,
  findMember,
  InexactJson,
  parseExact,
} from './exact-json.js';
import type { ToolResult } from './tool-error.js';
import { type CompletedSchema, type SharedSchemas, ToolSchema } from './tool-schema.js';
import type { ToolSource, ToolTarget } from './tool-source.js';

/** Images, audio and blobs of one result. Bytes of their base64. */
export const MAX_MEDIA_BYTES = 4_194_304;

/** A tool whose arguments and results are those of a tool of an MCP server behind the host. */
interface ServerTarget {
  readonly kind: 'route';
  readonly route: ManifestRoute;
}

/** Whether a route stands for a tool of an MCP server: its body is the arguments, its response the result. */
export function isServerTool(target: ToolTarget): target is ServerTarget {
  return (
    target.kind === 'route' && Reflect.get(Object(target.route.operation), 'mcp') !== undefined
  );
}

/** The texts of the server, without those of the host. */
export function readServerTexts({ operation }: ToolSource, { route }: ServerTarget) {
  const { summary, description } = route;
  return {
    ...(summary !== undefined && { title: escapeInvisible(summary) }),
    description: escapeInvisible(operation.tool?.description ?? description ?? ''),
  };
}

export function createServerInput({ route }: ServerTarget, shared: SharedSchemas): CompletedSchema {
  const schema = new ToolSchema(shared);
  const { input_schema: declared } = route.operation ?? {};
  return schema.complete(Object(schema.embed(declared ?? {}, '#')), {});
}

/** The schema of the structure, if the host enforces it; otherwise `null`. */
export function createServerOutput(
  { operation }: ToolSource,
  { route }: ServerTarget,
  shared: SharedSchemas,
): CompletedSchema | null {
  if (!operation.enforcesOutput) return null;
  const { properties }: { properties?: object } = Object(route.operation?.output_schema);
  const declared = Reflect.get(Object(properties), 'structuredContent') as JsonSchema | undefined;
  if (declared === undefined) return null;
  const schema = new ToolSchema(shared);
  return schema.complete(Object(schema.embed(declared, '#')), {});
}

interface Measured {
  readonly result: ToolResult;
  /** The length of texts and structure. */
  readonly textBytes: number;
  readonly mediaBytes: number;
}

/**
 * Reads the result of a tool of a server: its blocks as they are, and its structure if a parse keeps it.
 * @returns `null` for a text in which members repeat, or values nest too deep
 */
export function readServerResult(text: string): Measured | null {
  try {
    return measureResult(parseExact(text));
  } catch (error) {
    if (error instanceof InexactJson) return null;
    throw error;
  }
}

function measureResult(value: ExactValue): Measured {
  const content = findMember(value, 'content');
  const structure = findMember(value, 'structuredContent');
  const isError = findMember(value, 'isError')?.text === 'true';
  const blocks = content?.kind === 'array' ? content.items : [];
  const media = blocks.map(measureMedia);
  const mediaBytes = media.reduce((sum, bytes) => sum + bytes, 0);
  const hasStructure = structure?.kind === 'object' && !isError && survivesParse(structure);
  const texts = [...blocks.map(({ text }) => text), structure?.text ?? ''];
  const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) - mediaBytes;
  return {
    result: {
      content: blocks.map(({ text }) => JSON.parse(text)),
      ...(hasStructure && { structuredContent: JSON.parse(structure.text) }),
      ...(isError && { isError }),
    },
    textBytes,
    mediaBytes,
  };
}

/** The base64 of an image, audio or embedded blob. */
function measureMedia(block: ExactValue): number {
  const data = findMember(block, 'data') ?? findMember(findMember(block, 'resource'), 'blob');
  return data?.kind === 'string' ? data.value.length : 0;
}

function survivesParse(value: ExactValue): boolean {
  try {
    assertExactNumbers(value);
    return true;
  } catch (error) {
    if (error instanceof InexactJson) return false;
    throw error;
  }
}
