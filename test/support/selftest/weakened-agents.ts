import { changeBody, exchange, formatOk, type Surroundings, type Weakness } from './weakness.js';

const TOOL_PATHS: Readonly<Record<string, string>> = {
  tools_get_items_by_id: '/items/',
  tools_get_files_by_path: '/files/',
};
const SUCCESS = formatRpc({ content: [{ type: 'text', text: '{"ok":true}' }] });
/** Longer than two schemas that the host bounds. */
const BOMB = 'x'.repeat(100_000);

/** Weaknesses of a host that agents call. */
export const AGENT_WEAKNESSES: Readonly<Record<string, (ports: Surroundings) => Weakness>> = {
  'writes arguments into paths as they are': ({ provider }) => ({
    respond: async (text) => {
      const id = /^x-request-id: (mcp-(?:path|rest)-.*)\r$/m.exec(text)?.[1];
      if (id === undefined || !text.startsWith('POST /mcp ')) return null;
      const { name, arguments: args } = readParams(text);
      const target = `${TOOL_PATHS[name]}${Object.values(args).join()}`;
      const head = `GET ${target} HTTP/1.1\r\nhost: a\r\nx-request-id: ${id}\r\n`;
      await exchange(provider, `${head}connection: close\r\n\r\n`);
      return SUCCESS;
    },
  }),
  'calls any tool': () => ({
    respond: async (text) => (isOf(text, /mcp-name-.*/) ? SUCCESS : null),
  }),
  'reads arguments of any depth': () => ({
    changeRequest: (text) => changeBody(text, (body) => body.replace(/\[{200,}\]{200,}/, '[]')),
  }),
  'writes each schema where it is named': () => ({
    respond: async (text) =>
      text.includes('"method":"tools/list"') && isOf(text, /mcp-schema-bomb\..*/)
        ? formatRpc({ tools: [{ name: 'a' }, { name: 'b', inputSchema: { title: BOMB } }] })
        : null,
  }),
  'serves pages of any origin': () => ({
    changeRequest: (text) =>
      text.startsWith('POST /mcp ') ? text.replace(/^origin: .*\r\n/m, '') : text,
  }),
  'uses an approval again': () => createStanding(/mcp-approval-replay\..*/, 2),
  'uses an approval for another call': () =>
    createStanding(/mcp-approval-(?:arguments|number|more|tool|header|caller)\..*/, 1),
  'lets people approve their own requests': () => ({
    changeResponse: (text) =>
      isOf(text, /mcp-approval-self\..*/)
        ? text.replace(/^HTTP\/1\.1 403 .*/, 'HTTP/1.1 200 OK')
        : text,
  }),
  'shows hidden characters': () => ({
    changeResponse: (text) =>
      isOf(text, /mcp-approval-hidden\..*/)
        ? changeBody(text, (body) => body.replaceAll('\\\\u', '\\u'))
        : text,
  }),
};

/** Lets the calls of an attack succeed after this many. */
function createStanding(attack: RegExp, calls: number): Weakness {
  const counts = new Map<string, number>();
  return {
    respond: async (text) => {
      const mark = readMark(text);
      if (!text.startsWith('POST /mcp ') || !attack.test(mark)) return null;
      const count = (counts.get(mark) ?? 0) + 1;
      counts.set(mark, count);
      return count > calls ? SUCCESS : null;
    },
  };
}

/** Whether a request or a response belongs to an attack. */
function isOf(text: string, attack: RegExp): boolean {
  return attack.test(readMark(text));
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
