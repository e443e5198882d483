// The surface mcp of a host with many modules: what an agent reads before its first call, and the time of
// tools/list: node bench/mcp.mjs [folder of the build, default dist] [modules, default 1000]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { readLine, stop } from './parts/pinned-process.mjs';
import { summarise } from './parts/statistics.mjs';

const [dist = 'dist', count = '1000'] = process.argv.slice(2);
const MODULES = Number(count);
const ROUTES = 20;
const WARM_UP = 50;
const LISTS = 200;
const FIELDS = {
  name: { type: 'string', minLength: 1, maxLength: 40, description: 'As shown to people' },
  state: { enum: ['draft', 'active', 'archived'] },
  count: { type: 'integer', minimum: 0 },
  tags: { type: 'array', items: { type: 'string' }, maxItems: 8 },
};
const RECORD = { type: 'object', required: ['name'], properties: FIELDS };

const PRELOAD = new URL('./parts/observed-process.mjs', import.meta.url).href;

const print = (line) => process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'modgate-mcp-'));
const host = await startHost();
try {
  const all = await connect('/mcp');
  const { tools } = await all.listTools();
  const read = [all.getServerVersion(), all.getInstructions(), tools];
  const tokens = countTokens(JSON.stringify(read));
  print(`${MODULES} modules with ${ROUTES} routes each`);
  print(`read at /mcp before the first call   ${tokens} tokens, ${tools.length} tools`);
  await report('tools/list at /mcp', () => all.listTools());
  const name = `m${Math.floor(MODULES / 2)}`;
  const one = await connect(`/mcp/${name}`);
  const listed = await one.listTools();
  print(`read at /mcp/${name}   ${countTokens(JSON.stringify(listed.tools))} tokens`);
  await report(`tools/list at /mcp/${name}, ${listed.tools.length} tools`, () => one.listTools());
  const given = { name: 'search_tools', arguments: { query: 'archive a record' } };
  await report('search_tools', () => all.callTool(given), 10);
} finally {
  await stop(host.child);
  rmSync(folder, { recursive: true, force: true });
}

async function connect(path) {
  const requestInit = { headers: { authorization: 'Bearer dev-system:bench' } };
  const options = { versionNegotiation: { mode: 'auto' } };
  const client = new Client({ name: 'bench', version: '1' }, options);
  await client.connect(new StreamableHTTPClientTransport(new URL(host.url + path), { requestInit }));
  return client;
}

/** Prints the median, from the request of the client to its parsed result, and the CPU time of the host. */
async function report(title, request, times = LISTS) {
  for (let index = 0; index < Math.min(WARM_UP, times); index += 1) await request();
  const durations = [];
  const before = await host.readCpu();
  for (let index = 0; index < times; index += 1) {
    const start = performance.now();
    await request();
    durations.push(performance.now() - start);
  }
  const cpuMs = ((await host.readCpu()) - before) / times;
  const { median, min, max } = summarise(durations.map((ms) => Math.round(ms * 10) / 10));
  print(`${title.padEnd(36)} ${median} ms (${min} to ${max}), ${cpuMs.toFixed(1)} ms of CPU time`);
}

function writeModules() {
  mkdirSync(join(folder, 'modules.d'));
  for (let index = 0; index < MODULES; index += 1) {
    const module = `m${index}`;
    const descriptor = {
      module,
      provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:9'] } },
      manifest: { inline: describeManifest(module) },
      mcp: { expose: 'all' },
    };
    writeFileSync(join(folder, 'modules.d', `${module}.json`), JSON.stringify(descriptor));
  }
}

function describeManifest(module) {
  const routes = Array.from({ length: ROUTES }, (_, index) => ({
    method: index % 2 === 0 ? 'GET' : 'POST',
    path: `/records${index}/{id}`,
    capability: 'records.use',
    summary: `${index % 2 === 0 ? 'Reads' : 'Archives'} a record of the kind ${index}.`,
    operation: {
      operation_id: `record_${index}`,
      output_schema: RECORD,
      ...(index % 2 === 1 && { input_schema: RECORD }),
    },
  }));
  return {
    ...{ protocol: 'modgate.manifest.v1', module_id: module },
    capabilities: ['records.use'],
    http_routes: routes,
  };
}

async function startHost() {
  writeModules();
  const flags = [
    ...['serve', '--env', 'development', '--port', '0', '--surfaces', 'mcp'],
    ...['--log-success-sample', '0'],
    ...['--modules', join(folder, 'modules.d'), '--state', join(folder, 'state')],
  ];
  const args = ['--expose-gc', '--import', PRELOAD, resolve(dist, 'core/main.js'), ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const url = await readLine(child, (line) => /"url":"(http:[^"]+)"/.exec(line)?.[1]);
  const readCpu = async () => {
    child.send('cpu');
    const [{ mainMs }] = await once(child, 'message');
    return mainMs;
  };
  return { child, url, readCpu };
}
