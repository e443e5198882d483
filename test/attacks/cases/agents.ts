import { escapeInvisible } from '../../../core/contract/index.js';
import { AttackFailure, parseObject } from '../../../core/selftest/expectations.js';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { type Attack, reject, type Verdict } from '../attack.js';
import { expectBystanderUncalled, expectUncalled, sendOnce } from '../expectations.js';
import { PUBLIC_URL } from '../plugins.js';
import { listReceived, type OwnToken, type Scene } from '../scene.js';
import { signNeighbor } from '../servers/signed-tokens.js';

/** Two schemas of 32 KiB and a description. */
const MAX_TOOL_LENGTH = 70_000;
const DEEP = 1000;
const MCP_HEADERS: readonly RawHeader[] = [
  ['accept', 'application/json, text/event-stream'],
  ['mcp-protocol-version', '2025-11-25'],
];

/** Characters that hide, reorder or push away text: an override, a zero width space, a tag, a filler, line separators and blanks. */
const HIDDEN = ['\u202e', '\u200b', '\u{e0041}', '\u3164', '\u2028', '\u0085', '\u2003', '\u00a0'];
/** Blanks between members, which push the rest out of view. */
const GAP = '\n \t'.repeat(2000);

interface ToolAnswer {
  readonly isError: boolean;
  /** The Problem of a tool error of the host. */
  readonly problem: Readonly<Record<string, unknown>>;
  readonly result: Readonly<Record<string, unknown>> | null;
}

/** Default: the token of the owner. */
interface Sender {
  readonly as?: OwnToken;
  readonly token?: string;
  readonly headers?: readonly RawHeader[];
}

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

interface Changed extends Sender {
  readonly body: string;
  readonly tool?: string;
}

const CHANGES: readonly (readonly [
  name: string,
  title: string,
  change: (body: string, scene: Scene) => Changed,
])[] = [
  ['arguments', 'another value', (body) => ({ body: body.replace('1.0', '2.0') })],
  ['number', 'a number in another spelling', (body) => ({ body: body.replace('1.0', '1') })],
  ['more', 'one member more', (body) => ({ body: body.replace('1.0', '1.0,"b":1') })],
  ['tool', 'another tool', (body) => ({ body, tool: 'tools_post_described' })],
  ['header', 'another header', (body) => ({ body, headers: [['accept-language', 'x']] })],
  ['caller', 'another caller', (body, { issuer }) => ({ body, token: signNeighbor(issuer) })],
];

export const AGENT_CASES: readonly Attack[] = [
  ...PATHS.flatMap(([name, value]) => [
    keepInside(`path-${name}`, ONE_SEGMENT, value),
    keepInside(`rest-${name}`, REST_OF_PATH, value),
  ]),
  keepInside('path-slash', ONE_SEGMENT, 'a/b'),
  reachNeighbor('neighbor-literal', ONE_SEGMENT, 'all'),
  reachNeighbor('neighbor-rest', REST_OF_PATH, 'all'),
  reachNeighbor('neighbor-segment', REST_OF_PATH, 'a/raw'),
  ...NAMES.map(([name, tool]) => {
    const title = `a call of the tool ${escapeInvisible(JSON.stringify(tool))}`;
    return describe(`name-${name}`, title, (scene) => expectError(scene, tool, '{}'));
  }),
  describe('repeated-member', 'arguments with two members of one name', (scene) =>
    expectNoRequest(scene, '{"body":{"a":1,"a":2}}'),
  ),
  describe('deep', 'arguments of many levels', (scene) =>
    expectNoRequest(scene, `{"body":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}`),
  ),
  describe('schema-bomb', 'schemas whose references multiply at each step', expectShortTools),
  ...ORIGINS.map(([name, origin]) => {
    const headers: RawHeader[] = [...MCP_HEADERS, ['origin', origin]];
    const send = { method: 'POST', target: '/mcp', headers, body: formatMessage('tools/list', {}) };
    return reject(`mcp-origin-${name}`, `a page of the origin ${origin}`, send, 403);
  }),
  describe('approval-replay', 'an approval that is used twice', async (scene) => {
    const body = createArguments(scene);
    await approve(scene, body);
    if ((await callTool(scene, POST_ITEM, body)).isError) return 'the approved call failed';
    return expectPending(scene, { body }, 1);
  }),
  ...CHANGES.map(([name, title, change]) =>
    describe(`approval-${name}`, `an approved call with ${title}`, async (scene) => {
      const body = createArguments(scene);
      await approve(scene, body);
      return expectPending(scene, change(body, scene), 0);
    }),
  ),
  describe('approval-self', 'a person who approves their own request', async (scene) => {
    const id = await request(scene, { body: createArguments(scene), as: 'approver' });
    await decide(scene, id, 'approve', 403);
    return null;
  }),
  describe('approval-hidden', 'characters that the person who decides cannot see', (scene) =>
    expectVisible(scene, '', `pay${HIDDEN.join('x')}me`),
  ),
  describe('approval-pushed', 'blanks that push arguments out of view', (scene) =>
    expectVisible(scene, GAP, `pay\n${' '.repeat(2000)}me`),
  ),
];

function formatMessage(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

/** @param argumentsText the JSON text of the arguments, which is sent unchanged */
async function callTool(
  scene: Scene,
  name: string,
  argumentsText: string,
  sender: Sender = {},
): Promise<ToolAnswer> {
  const message = formatMessage('tools/call', { name, arguments: 0 });
  const body = message.replace(/"arguments":0/, () => `"arguments":${argumentsText}`);
  return readAnswer(scene, '/mcp', body, sender);
}

async function readAnswer(
  scene: Scene,
  target: string,
  body: string,
  { headers = [], ...sender }: Sender = {},
): Promise<ToolAnswer> {
  const sent = { method: 'POST', target, headers: [...MCP_HEADERS, ...headers], body, ...sender };
  const response = await sendOnce(scene, sent);
  const text = response.body.toString('utf8');
  const message = parseObject(Buffer.from(/^data: ([^\n]*)/m.exec(text)?.[1] ?? text));
  const result = asObject(message?.['result']);
  const content = Array.isArray(result?.['content']) ? asObject(result['content'][0]) : null;
  const problem = parseObject(Buffer.from(String(content?.['text'] ?? '')));
  return { isError: result === null || result['isError'] === true, problem: problem ?? {}, result };
}

/** Expects that the provider gets the value as one argument, or is not called. */
function keepInside(name: string, [tool, argument, place]: PathTool, value: string): Attack {
  const title = `the argument ${JSON.stringify(value)} of ${tool}`;
  return describe(name, title, async (scene) => {
    const answer = await callTool(scene, tool, JSON.stringify({ [argument]: value }));
    const targets = listReceived(scene, scene.provider).map(({ target }) => target);
    const outside = targets.find(
      (target) => LEAVES_PLACE.test(target) || decodeURIComponent(target) !== place + value,
    );
    if (outside !== undefined) return `the provider received ${outside.slice(0, 80)}`;
    if (targets.length > 1) return `the provider received ${targets.length} requests`;
    if (answer.isError === targets.length > 0) return 'the response is not that of the call';
    return expectBystanderUncalled(scene);
  });
}

/** Expects that no provider is called for a path that belongs to another route. */
function reachNeighbor(name: string, [tool, argument, place]: PathTool, value: string): Attack {
  const title = `the tool ${tool} with the path ${place}${value} of another route`;
  const text = JSON.stringify({ [argument]: value });
  return describe(name, title, (scene) => expectError(scene, tool, text));
}

async function expectError(scene: Scene, tool: string, argumentsText: string): Promise<Verdict> {
  const answer = await callTool(scene, tool, argumentsText);
  return answer.isError ? expectUncalled(scene) : 'the call succeeded';
}

/** Expects that arguments are rejected before they are stored for approval. */
async function expectNoRequest(scene: Scene, argumentsText: string): Promise<Verdict> {
  const answer = await callTool(scene, POST_ITEM, argumentsText);
  const id = answer.problem['approval_id'];
  if (typeof id === 'string') await decide(scene, id, 'reject');
  if (!answer.isError || id !== undefined) return 'the arguments were accepted';
  return expectUncalled(scene);
}

async function expectShortTools(scene: Scene): Promise<Verdict> {
  const message = formatMessage('tools/list', {});
  const { result } = await readAnswer(scene, '/mcp/tools', message);
  const tools = Array.isArray(result?.['tools']) ? result['tools'] : [];
  if (tools.length < 2) return 'the tools are not listed';
  const longest = Math.max(...tools.map((tool) => JSON.stringify(tool).length));
  return longest <= MAX_TOOL_LENGTH ? null : `a tool has ${longest} characters`;
}

/** Returns arguments that only this attack uses, since an approval covers equal calls. */
function createArguments({ mark }: Scene): string {
  return `{"body":{"mark":${JSON.stringify(mark)},"a":1.0}}`;
}

/** Requests approval. @returns the id. @throws AttackFailure if the call does not wait. */
async function request(
  scene: Scene,
  { body, tool = POST_ITEM, ...sender }: Changed,
): Promise<string> {
  const { problem } = await callTool(scene, tool, body, sender);
  if (problem['code'] === 'approval_required') return String(problem['approval_id']);
  throw new AttackFailure('the call did not wait for approval');
}

async function approve(scene: Scene, body: string): Promise<void> {
  await decide(scene, await request(scene, { body }), 'approve', 200);
}

/** Expects that the call waits, and that the provider has received this number of calls. */
async function expectPending(scene: Scene, changed: Changed, calls: number): Promise<Verdict> {
  await decide(scene, await request(scene, changed), 'reject');
  const received = listReceived(scene, scene.provider).length;
  return received === calls ? null : `the provider received ${received} calls`;
}

async function expectVisible(scene: Scene, gap: string, text: string): Promise<Verdict> {
  const members = `"mark":${JSON.stringify(scene.mark)},${gap}"text":${JSON.stringify(text)}`;
  const id = await request(scene, { body: `{"body":{${members}}}` });
  const response = await sendOnce(scene, { target: `/approvals/${id}`, as: 'approver' });
  await decide(scene, id, 'reject');
  const approval = parseObject(response.body);
  const shown = String(approval?.['arguments']);
  if (/\s{20}/.test(shown)) return 'the arguments are pushed out of view';
  const hidden = HIDDEN.find((character) => shown.includes(character));
  if (hidden !== undefined) return `the arguments hold U+${hidden.codePointAt(0)?.toString(16)}`;
  if (!shown.includes(scene.mark)) return 'the arguments are not shown';
  return approval?.['has_invisible'] === true ? null : 'the arguments are not marked';
}

async function decide(
  scene: Scene,
  id: string,
  decision: 'approve' | 'reject',
  status: number | null = null,
): Promise<void> {
  const body = JSON.stringify({ decision });
  const sent = { method: 'POST', target: `/approvals/${id}`, as: 'approver', body } as const;
  await sendOnce(scene, sent, status);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
}

function describe(name: string, title: string, attack: (scene: Scene) => Promise<Verdict>): Attack {
  return { id: `mcp-${name}`, title, attack };
}
