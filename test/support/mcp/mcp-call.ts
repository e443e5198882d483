import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { type Call, call, JSON_TYPE, ROOT } from '../http/call.js';

/** The revisions of the protocol, the newest first. */
export const MODERN = '2026-07-28';
export const REVISIONS = [MODERN, '2025-11-25', '2025-06-18', '2025-03-26'] as const;
export type Revision = (typeof REVISIONS)[number];

interface McpRequest {
  readonly method: string;
  /** The members of `params` as JSON text, without braces. */
  readonly params?: string;
  readonly as?: string | null;
  readonly module?: string | null;
  readonly revision?: Revision;
  readonly headers?: readonly RawHeader[];
}

export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface RpcResponse {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations: Record<string, boolean>;
}

type Host = { readonly port: number };

/** Sends one message and returns the response of HTTP. */
export function postMcp(host: Host, options: McpRequest) {
  const {
    method,
    params = '',
    as = ROOT,
    module = null,
    revision = MODERN,
    headers = [],
  } = options;
  const isModern = revision === MODERN;
  const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"${MODERN}","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`;
  const members = [isModern ? meta : '', params].filter(Boolean).join(',');
  const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":{${members}}}`;
  const name = /"name":"([^"]*)"/.exec(params)?.[1];
  const ownHeaders: RawHeader[] = [
    JSON_TYPE,
    ['accept', 'application/json, text/event-stream'],
    ['mcp-protocol-version', revision],
  ];
  if (isModern) ownHeaders.push(['mcp-method', method]);
  if (isModern && method === 'tools/call' && name !== undefined)
    ownHeaders.push(['mcp-name', name]);
  const target = module === null ? '/mcp' : `/mcp/${encodeURIComponent(module)}`;
  const request: Call = { method: 'POST', target, as, headers: [...ownHeaders, ...headers] };
  return call(host, { ...request, body: Buffer.from(body) });
}

/** The message of a response, which older revisions send as an event. */
export function parseRpc(body: Buffer): RpcResponse {
  const text = body.toString('utf8');
  const data = /^data: ([^\n]*)/m.exec(text)?.[1];
  return JSON.parse(data ?? text) as RpcResponse;
}

/** @throws for an error of the protocol. */
async function requestMcp(host: Host, options: McpRequest): Promise<unknown> {
  const response = await postMcp(host, options);
  const { result, error } = parseRpc(response.body);
  if (error !== undefined) throw new Error(`${response.status} ${error.code} ${error.message}`);
  return result;
}

interface ToolPage {
  readonly tools: readonly ListedTool[];
  readonly nextCursor?: string;
}

/** The first page of tools. */
export async function listTools(host: Host, options: Partial<McpRequest> = {}) {
  return (await listToolPage(host, options)).tools;
}

export async function listToolPage(
  host: Host,
  options: Partial<McpRequest> = {},
  cursor?: string,
): Promise<ToolPage> {
  const params = cursor === undefined ? '' : `"cursor":${JSON.stringify(cursor)}`;
  return (await requestMcp(host, { params, ...options, method: 'tools/list' })) as ToolPage;
}

/** @param text of the arguments, sent as it is */
export async function callTool(
  host: Host,
  name: string,
  text = '{}',
  options: Partial<McpRequest> = {},
): Promise<ToolResult> {
  const params = `"name":${JSON.stringify(name)},"arguments":${text}`;
  return (await requestMcp(host, { ...options, method: 'tools/call', params })) as ToolResult;
}

export function problemOf({ content, isError }: ToolResult): Record<string, unknown> {
  if (isError !== true) throw new Error(`not an error: ${content[0]?.text}`);
  return JSON.parse(content[0]?.text ?? '') as Record<string, unknown>;
}
