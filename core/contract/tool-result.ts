/** Annotations of a content block, which surfaces pass on. */
interface ContentAnnotations {
  readonly audience?: readonly string[];
  readonly priority?: number;
  readonly lastModified?: string;
}

/** Members that each content block may have. */
interface ContentMembers {
  readonly annotations?: ContentAnnotations;
}

/** A text or bytes of a resource, within a content block. */
export interface ResourceContent {
  /** The URI of the resource. */
  readonly uri: string;
  /** Its media type. */
  readonly mimeType?: string;
  /** Its text; absent for bytes. */
  readonly text?: string;
  /** Its bytes in base64; absent for a text. */
  readonly blob?: string;
}

/** A part of the result of a tool. */
export type ContentBlock = ContentMembers &
  (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
    | {
        readonly type: 'resource_link';
        readonly uri: string;
        readonly name: string;
        readonly title?: string;
        readonly description?: string;
        readonly mimeType?: string;
        readonly size?: number;
      }
    | { readonly type: 'resource'; readonly resource: ResourceContent }
  );

/**
 * The JSON response of a route of an adapter with {@link Supports.toolResults}, in the form of the Model Context
 * Protocol. Over HTTP it is the response; surfaces for agents pass it on block for block.
 */
export interface ToolResult {
  /**
   * The parts, in order. Over HTTP a block of a type that is not in {@link ContentBlock} passes as it is; agents get its
   * JSON as a text, since clients reject a whole result for a type that they do not know. A block without a type makes
   * the result invalid.
   */
  readonly content: readonly ContentBlock[];
  /** The same as one JSON object. Never passed on beside `isError`, nor with a number that a parser would change. */
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  /** Whether the tool failed. Over HTTP that is a 200 as well. Default false. */
  readonly isError?: boolean;
}
