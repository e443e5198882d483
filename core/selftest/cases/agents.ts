import { escapeInvisible } from '../../lib/visible-json.js';
import type { Attack, Verdict } from '../attack-case.js';
import { parseObject, sendOnce } from '../expectations.js';
import type { RawHeader } from '../raw-http.js';
import { listReceived, type OwnToken, requireOwn, type Scene } from '../scene.js';
import { PUBLIC_URL } from '../web-access.js';
import { signNeighbor } from './neighbors.js';

/** A module whose operations are tools of agents. Calls that write wait for approval. */
export const TOOLS_MODULE = 'tools';

/** Two schemas of 32 KiB and a description. */
const MAX_TOOL_LENGTH = 70_000;
const DEEP = 1000;
const MCP_HEADERS: readonly RawHeader[] = [
  ['accept', 'application/json, text/event-stream'],
  ['mcp-protocol-version', '2025-11-25'],
];

/** Characters that hide or reorder text: an override, a zero width space, a tag, a filler and a line separator. */
const HIDDEN = ['\u202e', '\u200b', '\u{e0041}', '\u3164', '\u2028', '\u0085'];

interface ToolAnswer {
  readonly isError: boolean;
  /** The Problem of a tool error of the host. */
  readonly problem: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>> | null;
}

/** Default: the token of the owner. */
type Sender = { readonly as?: OwnToken; readonly token?: string };

const POST_ITEM = 'tools_post_items';

const PATHS: readonly (readonly [name: string, value: string])[] = [
  ['parent', '../locked'],
  ['parents', 'a/../../locked'],
  ['encoded', '..%2flocked'],
  ['encoded-twice', '%252e%252e%252flocked'],
  ['backslash', '..\\locked'],
  ['dots', '..'],
  ['absolute', '//127.0.0.1/locked'],
  ['query', 'a?admin=1'],
  ['fragment', 'a#b'],
  ['matrix', 'a;admin=1'],
  ['line-break', 'a HTTP/1.1\r\nx-evil: 1\r\n\r\nGET /locked'],
  ['null', 'a\0b'],
];

/** A tool, its argument, and the path before its value. */
type PathTool = readonly [tool: string, argument: string, place: string];
const ONE_SEGMENT: PathTool = ['tools_get_items_by_id', 'id', '/items/'];
const REST_OF_PATH: PathTool = ['tools_get_files_by_path', 'path', '/files/'];
/** Dot segments, empty segments, and characters that end a path or a segment for some servers. */
const LEAVES_PLACE = /\/\.\.?(?:\/|$)|\/\/|[?#;\\]|^\/items\/.*\//;

const NAMES: readonly (readonly [name: string, tool: string])[] = [
  ['locked', 'tools_get_locked'],
  ['unexposed', 'shop_get_items'],
  ['path', 'tools_get_items/../../locked'],
  ['prototype', '__proto__'],
  ['operation', 'tools.get_items'],
  ['line-break', 'tools_get_items\r\nx-evil: 1'],
  ['look-alike', 'tools_get_\u0456tems'],
  ['hidden', 'tools_get_items\u200b'],
];

const ORIGINS: readonly (readonly [name: string, origin: string])[] = [
  ['foreign', 'https://evil.test'],
  ['null', 'null'],
  ['suffix', `${PUBLIC_URL}.evil.test`],
  ['scheme', PUBLIC_URL.replace('https', 'http')],
  ['port', `${PUBLIC_URL}:8443`],
];

const CHANGES: readonly (readonly [
  name: string,
  title: string,
  change: (body: string) => Changed,
])[] = [
  ['arguments', 'another value', (body) => ({ body: body.replace('1.0', '2.0') })],
  [
    'number',
    'a number that is written in another way',
    (body) => ({ body: body.replace('1.0', '1') }),
  ],
  ['more', 'one member more', (body) => ({ body: body.replace('1.0', '1.0,"b":1') })],
  ['tool', 'another tool', (body) => ({ body, tool: 'tools_post_described' })],
  [
    'header',
    'a header that reaches the provider',
    (body) => ({ body, headers: [['accept-language', 'x']] }),
  ],
];

interface Changed {
  readonly body: string;
  readonly tool?: string;
  readonly headers?: readonly RawHeader[];
}

export const AGENT_CASES: readonly Attack[] = [
  ...PATHS.flatMap(([name, value]) => [
    keepInside(`path-${name}`, ONE_SEGMENT, value),
    keepInside(`rest-${name}`, REST_OF_PATH, value),
  ]),
  keepInside('path-slash', ONE_SEGMENT, 'a/b'),
  ...NAMES.map(([name, tool]): Attack => {
    return {
      ...describe(`name-${name}`, `a call of the tool ${escapeInvisible(JSON.stringify(tool))}`),
      attack: (scene) => expectUncalled(scene, tool, '{}'),
    };
  }),
  {
    ...describe('repeated-member', 'arguments with two members of one name'),
    attack: (scene) => expectNoRequest(scene, '{"body":{"a":1,"a":2}}'),
  },
  {
    ...describe('deep', 'arguments of many levels'),
    attack: (scene) => expectNoRequest(scene, `{"body":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`),
  },
  {
    ...describe('schema-bomb', 'schemas whose references multiply at each step'),
    attack: expectShortTools,
  },
  ...ORIGINS.map(([name, origin]): Attack => {
    const headers: RawHeader[] = [...MCP_HEADERS, ['origin', origin]];
    const send = { method: 'POST', target: '/mcp', headers, body: formatMessage('tools/list', {}) };
    return { ...describe(`origin-${name}`, `a page of the origin ${origin}`), send, rejected: 403 };
  }),
  {
    ...describe('approval-replay', 'an approval that is used twice'),
    attack: async (scene) => {
      const argumentsText = createArguments(scene);
      const failure = await approve(scene, argumentsText);
      if (failure !== null) return failure;
      if ((await callTool(scene, POST_ITEM, argumentsText)).isError)
        return 'the approved call failed';
      return expectPending(scene, argumentsText, 1);
    },
  },
  ...CHANGES.map(([name, title, change]): Attack => {
    return {
      ...describe(`approval-${name}`, `an approved call with ${title}`),
      attack: async (scene) => {
        const argumentsText = createArguments(scene);
        const changed = change(argumentsText);
        return (
          (await approve(scene, argumentsText)) ?? expectPending(scene, changed.body, 0, changed)
        );
      },
    };
  }),
  {
    ...describe('approval-caller', 'an approved call of another caller'),
    attack: async (scene) => {
      const argumentsText = createArguments(scene);
      const token = signNeighbor(requireOwn(scene).issuer);
      return (
        (await approve(scene, argumentsText)) ?? expectPending(scene, argumentsText, 0, { token })
      );
    },
  },
  {
    ...describe('approval-self', 'a person who approves their own request'),
    attack: async (scene) => {
      const id = await request(scene, createArguments(scene), { as: 'approver' });
      if (id === null) return 'the call was not stored for approval';
      const status = await decide(scene, id, 'approve');
      return status === 403 ? null : `the decision responded with ${status} instead of 403`;
    },
  },
  {
    ...describe('approval-hidden', 'characters that the person who decides cannot see'),
    attack: expectVisible,
  },
];

function formatMessage(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

/** @param argumentsText the JSON text of the arguments, which is sent unchanged */
async function callTool(
  scene: Scene,
  name: string,
  argumentsText: string,
  { headers = [], ...sender }: Sender & { readonly headers?: readonly RawHeader[] } = {},
): Promise<ToolAnswer> {
  const message = formatMessage('tools/call', { name, arguments: 0 });
  const body = message.replace(/"arguments":0/, () => `"arguments":${argumentsText}`);
  return readAnswer(scene, '/mcp', body, { headers, ...sender });
}

async function readAnswer(
  scene: Scene,
  target: string,
  body: string,
  { headers = [], ...sender }: Sender & { readonly headers?: readonly RawHeader[] } = {},
): Promise<ToolAnswer> {
  const sent = { method: 'POST', target, headers: [...MCP_HEADERS, ...headers], body, ...sender };
  const response = await sendOnce(scene, sent);
  const text = response.body.toString('utf8');
  const message = parseObject(Buffer.from(/^data: (.*)$/m.exec(text)?.[1] ?? text));
  const result = asObject(message?.['result']);
  const content = Array.isArray(result?.['content']) ? asObject(result['content'][0]) : null;
  const problem = parseObject(Buffer.from(String(content?.['text'] ?? '')));
  return { isError: result === null || result['isError'] === true, problem: problem ?? {}, result };
}

/** Expects that the provider gets the value as one argument, or is not called. */
function keepInside(name: string, [tool, argument, place]: PathTool, value: string): Attack {
  return {
    ...describe(name, `the argument ${JSON.stringify(value)} of ${tool}`),
    attack: async (scene) => {
      const { provider, bystander } = requireOwn(scene);
      const answer = await callTool(scene, tool, JSON.stringify({ [argument]: value }));
      const targets = listReceived(scene, provider).map(({ target }) => target);
      const outside = targets.find(
        (target) => LEAVES_PLACE.test(target) || decodeURIComponent(target) !== place + value,
      );
      if (outside !== undefined) return `the provider received ${outside.slice(0, 80)}`;
      if (listReceived(scene, bystander).length > 0) return 'another server was called';
      if (targets.length > 1) return `the provider received ${targets.length} requests`;
      return answer.isError === (targets.length === 0)
        ? null
        : 'the response is not that of the call';
    },
  };
}

async function expectUncalled(scene: Scene, tool: string, argumentsText: string): Promise<Verdict> {
  const answer = await callTool(scene, tool, argumentsText);
  if (!answer.isError) return 'the call succeeded';
  const [first] = listReceived(scene, requireOwn(scene).provider);
  return first === undefined ? null : `the provider received ${first.target.slice(0, 80)}`;
}

/** Expects that arguments are rejected before they are stored for approval. */
async function expectNoRequest(scene: Scene, argumentsText: string): Promise<Verdict> {
  const answer = await callTool(scene, POST_ITEM, argumentsText);
  const id = answer.problem['approval_id'];
  if (id !== undefined) await decide(scene, String(id), 'reject');
  const isCalled = listReceived(scene, requireOwn(scene).provider).length > 0;
  return answer.isError && id === undefined && !isCalled ? null : 'the arguments were accepted';
}

async function expectShortTools(scene: Scene): Promise<Verdict> {
  const message = formatMessage('tools/list', {});
  const { result } = await readAnswer(scene, `/mcp/${TOOLS_MODULE}`, message);
  const tools = Array.isArray(result?.['tools']) ? result['tools'] : [];
  if (tools.length < 2) return 'the tools are not listed';
  const longest = Math.max(...tools.map((tool) => JSON.stringify(tool).length));
  return longest <= MAX_TOOL_LENGTH ? null : `a tool has ${longest} characters`;
}

/** Returns arguments that only this attack uses, since an approval covers equal calls. */
function createArguments({ mark }: Scene): string {
  return `{"body":{"mark":${JSON.stringify(mark)},"a":1.0}}`;
}

/** Requests approval. @returns the id; `null` if the call does not wait */
async function request(
  scene: Scene,
  argumentsText: string,
  sender: Sender = {},
): Promise<string | null> {
  const { problem } = await callTool(scene, POST_ITEM, argumentsText, sender);
  return problem['code'] === 'approval_required' ? String(problem['approval_id']) : null;
}

async function approve(scene: Scene, argumentsText: string): Promise<Verdict> {
  const id = await request(scene, argumentsText);
  if (id === null) return 'the call was not stored for approval';
  const status = await decide(scene, id, 'approve');
  return status === 200 ? null : `the decision responded with ${status} instead of 200`;
}

/** Expects that the call waits, and that the provider has received at most this number of calls. */
async function expectPending(
  scene: Scene,
  argumentsText: string,
  calls: number,
  { tool = POST_ITEM, headers = [], token }: Sender & Partial<Changed> = {},
): Promise<Verdict> {
  const sender = { headers, ...(token !== undefined && { token }) };
  const { problem } = await callTool(scene, tool, argumentsText, sender);
  if (problem['code'] !== 'approval_required') return 'the call did not wait for approval';
  await decide(scene, String(problem['approval_id']), 'reject');
  const received = listReceived(scene, requireOwn(scene).provider).length;
  return received === calls ? null : `the provider received ${received} calls`;
}

async function expectVisible(scene: Scene): Promise<Verdict> {
  const body = { mark: scene.mark, text: `pay${HIDDEN.join('x')}me` };
  const id = await request(scene, JSON.stringify({ body }));
  if (id === null) return 'the call was not stored for approval';
  const target = `/approvals/${id}`;
  const response = await sendOnce(scene, { target, as: 'approver' });
  await decide(scene, id, 'reject');
  const approval = parseObject(response.body);
  const text = String(approval?.['arguments']);
  const hidden = HIDDEN.find((character) => text.includes(character));
  if (hidden !== undefined) return `the arguments hold U+${hidden.codePointAt(0)?.toString(16)}`;
  if (!text.includes(scene.mark)) return 'the arguments are not shown';
  return approval?.['has_invisible'] === true ? null : 'the arguments are not marked';
}

async function decide(scene: Scene, id: string, decision: 'approve' | 'reject'): Promise<number> {
  const body = JSON.stringify({ decision });
  const sent = { method: 'POST', target: `/approvals/${id}`, as: 'approver', body } as const;
  const { status } = await sendOnce(scene, sent);
  return status;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

function describe(name: string, title: string) {
  return { id: `mcp-${name}`, title };
}
