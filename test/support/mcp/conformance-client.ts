/**
 * A host as the client of a scenario of the official conformance suite: node conformance-client.js URL. It imports the
 * server of the scenario, and calls what the manifest has.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { createWorkplace } from '../cli/run-in.js';
import { openHost } from '../open-host.js';

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: { readonly input_schema?: Schema; readonly mcp?: { readonly tool: string } };
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface ToolCall {
  readonly name: string;
  readonly arguments: object;
}

const [url = ''] = process.argv.slice(2);
const { toolCalls = [] } = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly toolCalls?: readonly ToolCall[];
};
/** The resources of a scenario, whose names are headers too. */
const RESOURCES: Readonly<Record<string, readonly string[]>> = {
  'http-standard-headers': [
    'file:///path/to/file%20name.txt',
    'https://example.com/resource?id=123',
  ],
};
const TOKEN = 'Bearer dev-service:test:suite.read,suite.write';

const place = createWorkplace();
const { code, stdout, stderr } = await place.run(['import', 'mcp', '--module', 'suite', url]);
process.stdout.write(stdout);
process.stderr.write(stderr);
if (code !== 0) process.exit(1);

/** Some scenarios send what the schema of their own tool forbids. */
const descriptor = join(place.folder, 'modules.d/suite.yaml');
const written = parse(readFileSync(descriptor, 'utf8'));
writeFileSync(descriptor, stringify({ ...written, schemas: { input: 'report' } }));
const manifest = readFileSync(join(place.folder, 'modules.d/suite/manifest.json'), 'utf8');
const routes = (JSON.parse(manifest) as { http_routes: readonly Route[] }).http_routes;

const host = await openHost([
  ...['serve', '--env', 'development', '--port', '0', '--state', join(place.folder, 'state')],
  ...['--modules', join(place.folder, 'modules.d')],
]);
for (const { method, path, operation } of routes) {
  if (method !== 'POST') continue;
  for (const input of listArguments(operation)) {
    const response = await fetch(`${host.url}/modules/suite/http${path}`, {
      method,
      headers: { authorization: TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
    console.log(path, response.status, await response.text());
  }
}
for (const uri of RESOURCES[process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''] ?? []) {
  const path = `/modules/suite/http/resources/${encodeURIComponent(uri)}`;
  const response = await fetch(host.url + path, { headers: { authorization: TOKEN } });
  console.log(path, response.status);
}
await host.stop();

/** The arguments of each call of a tool: those that the scenario names, or examples. */
function listArguments({ mcp, input_schema: schema = {} }: Route['operation']): readonly object[] {
  const named = toolCalls.filter(({ name }) => name === mcp?.tool);
  if (named.length > 0) return named.map((call) => call.arguments);
  const required = Object.entries(schema.properties ?? {}).filter(([name]) =>
    schema.required?.includes(name),
  );
  return [Object.fromEntries(required.map(([name, { type }]) => [name, createExample(type)]))];
}

function createExample(type: string | undefined): unknown {
  if (type === 'number' || type === 'integer') return 1;
  // A scenario has a tool that gets the schema of another one back.
  if (type === 'object') return routes[0]?.operation.input_schema;
  return type === 'string' ? 'text' : null;
}
