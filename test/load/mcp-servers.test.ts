import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { openHost } from '../support/open-host.js';
import { createFolder } from '../support/temporary-folder.js';

const PAGE = 'docs/operate/kinds/mcp.md';

interface PublicServer {
  readonly version: string;
  readonly args?: readonly string[];
  readonly tool: string;
  readonly input?: object;
  /** A part of the result. */
  readonly says: string;
}

const APP = { version: '2.0.3', args: ['--stdio'] };
const OFFICIAL = { version: '2026.8.31' };
const ENTITIES = { entities: [{ name: 'lamp', entityType: 'thing', observations: ['green'] }] };

/** Servers of many authors that need no account, with one call of each. */
const SERVERS: Readonly<Record<string, PublicServer>> = {
  '@modelcontextprotocol/server-everything': {
    ...{ ...OFFICIAL, tool: 'get-sum', input: { a: 2, b: 3 } },
    says: 'The sum of 2 and 3 is 5.',
  },
  '@modelcontextprotocol/server-filesystem': {
    ...{ ...OFFICIAL, args: ['.'], tool: 'read_text_file', input: { path: 'a.txt' } },
    says: 'a text',
  },
  '@modelcontextprotocol/server-memory': {
    ...{ ...OFFICIAL, tool: 'create_entities', input: ENTITIES },
    says: 'lamp',
  },
  '@modelcontextprotocol/server-sequential-thinking': {
    ...{ ...OFFICIAL, tool: 'sequentialthinking' },
    input: { thought: 'a', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    says: 'thoughtHistoryLength',
  },
  '@modelcontextprotocol/server-basic-vanillajs': { ...APP, tool: 'get-time', says: 'T' },
  '@modelcontextprotocol/server-budget-allocator': {
    ...{ ...APP, tool: 'get-budget-data', says: 'categories' },
  },
  '@modelcontextprotocol/server-cohort-heatmap': {
    ...{ ...APP, tool: 'get-cohort-data', says: 'Cohort' },
  },
  '@modelcontextprotocol/server-scenario-modeler': {
    ...{ ...APP, tool: 'get-scenario-data', says: 'template' },
  },
  '@modelcontextprotocol/server-sheet-music': {
    ...{ ...APP, tool: 'play-sheet-music', input: { abcNotation: 'X:1\nK:C\nCDEF|' } },
    says: 'success',
  },
  '@modelcontextprotocol/server-system-monitor': {
    ...{ ...APP, tool: 'get-system-info', says: 'hostname' },
  },
  '@modelcontextprotocol/server-threejs': { ...APP, tool: 'learn_threejs', says: 'three' },
  '@modelcontextprotocol/server-transcript': { ...APP, tool: 'transcribe', says: 'ready' },
  '@agent-infra/mcp-server-filesystem': {
    ...{ version: '1.2.29', args: ['--allowed-directories', '.'] },
    ...{ tool: 'list_allowed_directories', says: 'llowed directories' },
  },
  '@cyanheads/git-mcp-server': {
    ...{ version: '2.15.3', tool: 'git_clear_working_dir', input: { confirm: 'Y' } },
    says: 'success',
  },
  '@itseasy21/mcp-knowledge-graph': {
    ...{ version: '1.0.7', tool: 'create_entities', input: ENTITIES, says: 'lamp' },
  },
  '@kazuph/mcp-taskmanager': { version: '1.1.1', tool: 'list_requests', says: 'equest' },
  'drawio-mcp': {
    ...{ version: '1.6.0', tool: 'new_diagram', input: { file_path: 'a.drawio.svg' } },
    says: 'a.drawio.svg',
  },
  'mcp-git': { version: '0.0.4', tool: 'git_init', input: { repo_path: '.' }, says: 'nitialized' },
  'mcp-graphql-schema': {
    ...{ version: '0.0.2', args: ['schema.graphql'], tool: 'list-query-fields', says: 'hello' },
  },
  'mcp-hello-world': { version: '1.1.2', tool: 'add', input: { a: 2, b: 3 }, says: '5' },
  'mcp-sequentialthinking-tools': {
    ...{ version: '0.0.3', tool: 'sequentialthinking_tools', says: 'thought_number' },
    input: {
      ...{ available_mcp_tools: [], thought: 'a', next_thought_needed: false },
      ...{ thought_number: 1, total_thoughts: 1 },
    },
  },
  'time-mcp': {
    ...{ version: '1.0.6', tool: 'days_in_month', input: { date: '2028-02-01' }, says: '29' },
  },
};

describe('MCP servers from npm', () => {
  let packages: string;
  let place: Workplace;

  before(function () {
    packages = createFolder();
    const names = Object.entries(SERVERS).map(([name, { version }]) => `${name}@${version}`);
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    try {
      const all = ['install', '--prefix', packages, ...options, ...names];
      execFileSync('npm', all, { cwd: packages, stdio: 'pipe' });
    } catch (error) {
      if (process.env['CI'] !== undefined) throw error;
      this.skip();
    }
  });

  beforeEach(() => {
    place = createWorkplace();
    place.write('a.txt', 'a text');
    place.write('schema.graphql', 'type Query { hello(name: String!): String }');
  });

  function findProgram(name: string): string {
    const folder = join(packages, 'node_modules', name);
    const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      readonly bin: string | Readonly<Record<string, string>>;
    };
    return join(folder, typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''));
  }

  for (const [name, { args = [], tool, input = {}, says }] of Object.entries(SERVERS)) {
    it(`are imported, checked and called: ${name}`, async () => {
      const words = [process.execPath, findProgram(name), ...args];
      const imported = await place.run(['import', 'mcp', '--module', 'server', '--', ...words]);
      expect(imported.code, imported.stdout + imported.stderr).to.equal(0);
      expect(imported.stdout).to.match(/(\d+) of \1 operations became routes/);
      const checked = await place.run(['check']);
      expect(checked.code, checked.stdout).to.equal(0);
      const host = await openHost([
        ...['serve', '--env', 'development', '--port', '0', '--state', join(place.folder, 'state')],
        ...['--modules', join(place.folder, 'modules.d')],
      ]);
      try {
        const response = await fetch(`${host.url}/modules/server/http/tools/${tool}`, {
          method: 'POST',
          headers: {
            authorization: 'Bearer dev-service:test:server.read,server.write',
            'content-type': 'application/json',
          },
          body: JSON.stringify(input),
        });
        const text = await response.text();
        expect(response.status, text).to.equal(200);
        expect(text).to.include('"content"').and.include(says);
        expect(text).to.not.include('"isError":true');
      } finally {
        await host.stop();
      }
    });
  }

  it('are counted in the page', () => {
    const count = Object.keys(SERVERS).length;
    expect(readFileSync(PAGE, 'utf8')).to.include(`${count} servers from npm`);
  });
});
