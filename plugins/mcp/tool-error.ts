import type { CallToolResult } from '@modelcontextprotocol/server';

/** The result of a failed call for an agent. */
export interface ToolProblem {
  readonly code: string;
  readonly detail: string;
  readonly request_id: string;
  readonly next_actions: readonly string[];
  readonly [member: string]: unknown;
}

/** What is wrong with an argument; the reason continues `the argument is`. */
export interface ArgumentError {
  /** `limit`, `body.title`; `arguments` for all of them. */
  readonly field: string;
  /** `missing: expected string` */
  readonly reason: string;
}

/** Thrown for arguments that cannot be converted to a call. */
export class InvalidArguments extends Error {
  override readonly name = 'InvalidArguments';
  readonly errors: readonly ArgumentError[];

  constructor(...errors: readonly ArgumentError[]) {
    super(errors.map(({ field, reason }) => `${field} is ${reason}`).join('; '));
    this.errors = errors;
  }
}

export interface ToolResult {
  readonly content: CallToolResult['content'];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly [member: string]: unknown;
}

export function createProblemResult(problem: ToolProblem): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(problem) }], isError: true };
}

export function createTextResult(text: string, isError = false): ToolResult {
  return { content: [createTextBlock(text)], ...(isError && { isError }) };
}

export function createTextBlock(text: string) {
  return { type: 'text', text } as const;
}
