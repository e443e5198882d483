import { STOLEN } from '../servers/tool-server.js';
import {
  answer,
  changeBody,
  exchange,
  formatOk,
  isOf,
  NEVER,
  restate,
  type Surroundings,
  type WeakenedHosts,
  type Weakness,
  weak,
} from './weakness.js';

const TOOL_PATHS: Readonly<Record<string, string>> = {
  tools_get_items_by_id: '/items/',
  tools_get_files_by_path: '/files/',
};
const SUCCESS = formatRpc({ content: [{ type: 'text', text: '{"ok":true}' }] });
/** Longer than two schemas that the host bounds. */
const BOMB = 'x'.repeat(100_000);

/** Weaknesses of a host that agents call. */
/** Each answers calls of the module `toolbox` itself. */
export const WEAKENED_TOOLS: WeakenedHosts = {
  'calls tools that have changed': weak('tools-changed', answer(/\/tools\/changed /)),
  'drops a list with one bad schema': weak(
    'tools-bombs',
    restate('tools-bombs', 200, '502 Bad Gateway'),
  ),
  'takes any response for its own': weak(
    'tools-other-id tools-text-id tools-null-id tools-no-result',
    answer(/\/tools\/(?:other-id|text-id|null-id|no-result) /),
  ),
  'takes the first response of a stream': weak(
    'tools-spoofed',
    answer(/\/tools\/spoofed /, formatOk(`{"data":"${STOLEN}"}`)),
  ),
  'reads all that a server of tools sends': weak(
    'tools-flood tools-requests tools-notes tools-endless',
    answer(/\/tools\/(?:flood|requests|notes|endless) /),
  ),
  'waits while a server reports progress': weak(
    'tools-progress',
    { respond: async (text) => (text.includes('/tools/progress ') ? NEVER : null) },
    true,
  ),
  'writes arguments into messages as they are': weak('tools-batch tools-behind tools-closing', {
    respond: async (text) =>
      isOf(text, 'tools-(?:batch|behind|closing)') ? formatOk('{"data":{"content":[]}}') : null,
  }),
};

export const WEAKENED_AGENTS: WeakenedHosts = {
  'writes arguments into paths as they are': weak('mcp-path-* mcp-rest-*', (ports) =>
    createWriting('mcp-(?:path|rest)-.*', ports),
  ),
  'calls the route to which a path belongs': weak('mcp-neighbor-*', (ports) =>
    createWriting('mcp-neighbor-.*', ports),
  ),
  'calls any tool': weak('mcp-name-*', {
    respond: async (text) => (isOf(text, 'mcp-name-.*') ? SUCCESS : null),
  }),
  'reads arguments of any depth': weak('mcp-deep', {
    changeRequest: (text) => changeBody(text, (body) => body.replace(/\[{200,}\]{200,}/, '[]')),
  }),
  'writes each schema where it is named': weak('mcp-schema-bomb', {
    respond: async (text) =>
      text.includes('"method":"tools/list"') && isOf(text, 'mcp-schema-bomb')
        ? formatRpc({ tools: [{ name: 'a' }, { name: 'b', inputSchema: { title: BOMB } }] })
        : null,
  }),
  'serves pages of any origin': weak('mcp-origin-*', {
    changeRequest: (text) =>
      text.startsWith('POST /mcp ') ? text.replace(/^origin: .*\r\n/m, '') : text,
  }),
  'uses an approval again': weak('mcp-approval-replay', () =>
    createStanding('mcp-approval-replay', 2),
  ),
  'uses an approval for another call': weak(
    'mcp-approval-arguments mcp-approval-number mcp-approval-more mcp-approval-tool ' +
      'mcp-approval-header mcp-approval-caller',
    () => createStanding('mcp-approval-(?:arguments|number|more|tool|header|caller)', 1),
  ),
  'lets people approve their own requests': weak(
    'mcp-approval-self',
    restate('mcp-approval-self', 403, '200 OK'),
  ),
  'shows hidden characters': weak('mcp-approval-hidden', {
    changeResponse: (text) =>
      isOf(text, 'mcp-approval-hidden')
        ? changeBody(text, (body) => body.replaceAll('\\\\u', '\\u'))
        : text,
  }),
  'shows blanks between members': weak('mcp-approval-pushed', {
    changeResponse: (text) =>
      isOf(text, 'mcp-approval-pushed')
        ? changeBody(text, (body) => body.replace(/(?<="arguments":"\{)/, '\\n'.repeat(2000)))
        : text,
  }),
};

/** Calls the path that the arguments make. */
function createWriting(attack: string, { provider }: Surroundings): Weakness {
  return {
    respond: async (text) => {
      if (!isOf(text, attack) || !text.startsWith('POST /mcp ')) return null;
      const { name, arguments: args } = readParams(text);
      const target = `${TOOL_PATHS[name]}${Object.values(args).join()}`;
      const head = `GET ${target} HTTP/1.1\r\nhost: a\r\nx-request-id: ${readMark(text)}\r\n`;
      await exchange(provider, `${head}connection: close\r\n\r\n`);
      return SUCCESS;
    },
  };
}

/** Lets the calls of an attack succeed after this many. */
function createStanding(attack: string, calls: number): Weakness {
  const counts = new Map<string, number>();
  return {
    respond: async (text) => {
      if (!text.startsWith('POST /mcp ') || !isOf(text, attack)) return null;
      const mark = readMark(text);
      const count = (counts.get(mark) ?? 0) + 1;
      counts.set(mark, count);
      return count > calls ? SUCCESS : null;
    },
  };
}

function readMark(text: string): string {
  return /^x-request-id: (.*)\r$/m.exec(text)?.[1] ?? '';
}

function readParams(text: string) {
  const [, body = ''] = text.split(/\r\n\r\n(?=\{)/);
  const { params } = JSON.parse(body) as {
    params: { name: string; arguments: Readonly<Record<string, string>> };
  };
  return params;
}

function formatRpc(result: object): string {
  return formatOk(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
}
