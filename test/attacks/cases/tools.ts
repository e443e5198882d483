import { type Attack, reject } from '../attack.js';
import { sendOnce } from '../expectations.js';
import type { OwnModule, Scene } from '../scene.js';
import { STOLEN, TOOL_ROUTES } from '../servers/tool-server.js';

/** `limits.stream.max_ms`: calls with progress end within it. */
const MAX_MS = 2_000;

/** A module whose provider is a hostile MCP server. */
export function createToolModule(url: string): OwnModule {
  return {
    url,
    provider: { kind: 'mcp', config: { url } },
    limits: { timeout_ms: 4_000, stream: { max_ms: MAX_MS } },
    manifest: {
      inline: {
        ...{ protocol: 'modgate.manifest.v1', module_id: 'toolbox', capabilities: ['shop.use'] },
        http_routes: TOOL_ROUTES,
      },
    },
  };
}

const post = (tool: string, body = '{}') => ({
  ...{ method: 'POST', target: `/modules/toolbox/http/tools/${tool}`, body },
});

/** The arguments of a call must not become a message of their own. */
const MESSAGE = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"good"}}';
const NO_ARGUMENTS: readonly (readonly [name: string, title: string, body: string])[] = [
  ['batch', 'a batch of messages as arguments', `[${MESSAGE}]`],
  ['behind', 'a second message behind the arguments', `{}\n${MESSAGE}`],
  ['closing', 'arguments that close the message', `{}},{"a":${MESSAGE}`],
];

const ENDLESS: readonly (readonly [name: string, title: string])[] = [
  ['other-id', 'a response with the id of another call'],
  ['text-id', 'a response with another id as a text'],
  ['null-id', 'a response without an id'],
  ['no-result', 'a response without a result'],
  ['flood', 'messages without end'],
  ['requests', 'requests of the server without end'],
  ['notes', 'changes of the list without end'],
  ['endless', 'a result above the limit'],
  ['progress', 'progress without end'],
];

export const TOOL_CASES: readonly Attack[] = [
  {
    id: 'tools-changed',
    title: 'a tool that changed since it was imported',
    attack: async (scene) => {
      await sendOnce(scene, post('changed'), 502);
      return countCalls(scene, 'changed') === 0 ? null : 'the changed tool was called';
    },
  },
  {
    id: 'tools-bombs',
    title: 'a list with schemas that exhaust stacks, beside a good tool',
    attack: async (scene) => {
      await sendOnce(scene, post('good'), 200);
      return countCalls(scene, 'good') > 0 ? null : 'the good tool was not called';
    },
  },
  {
    id: 'tools-spoofed',
    title: 'results for other calls before that of the call',
    attack: async (scene) => {
      const { status, body } = await sendOnce(scene, post('spoofed'));
      if (body.includes(STOLEN)) return 'the result of another call was taken';
      return status === 200 || status === 502 ? null : `responded with ${status}`;
    },
  },
  ...ENDLESS.map(([name, title]) => reject(`tools-${name}`, title, post(name), 502)),
  ...NO_ARGUMENTS.map(([name, title, body]) =>
    reject(`tools-${name}`, title, post('good', body), 400),
  ),
];

/** The calls of a tool in the current attack, which its server got. */
function countCalls({ mark, toolServer }: Scene, tool: string): number {
  const called = toolServer.requests.filter(
    ({ headers, text }) =>
      text.includes('"tools/call"') &&
      text.includes(`"name":"${tool}"`) &&
      `${headers['x-request-id']}`.includes(mark),
  );
  return called.length;
}
