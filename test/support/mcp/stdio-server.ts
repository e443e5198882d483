/** An MCP server over stdio: node stdio-server.js [fault]. Each call of `pid` answers with its process. */
import { closeSync } from 'node:fs';
import { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';

const [fault = ''] = process.argv.slice(2);
const TOOLS = ['pid', 'exit', 'hang', 'long', 'environment', 'ask', 'run', 'mute', 'deaf'];

function createServer(): Server {
  const server = new Server({ name: 'stdio', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
  }));
  server.setRequestHandler('tools/call', ({ params }) => {
    if (params.name === 'exit') process.exit(3);
    if (params.name === 'ask') console.log('thinking');
    if (params.name === 'mute') process.stdout.end().on('error', () => {});
    if (params.name === 'deaf') {
      // Node.js leaves the descriptor of a stdin that it has destroyed open.
      process.stdin.destroy();
      closeSync(0);
      console.log('deaf');
      setInterval(() => {}, 1000);
    }
    if (['hang', 'mute', 'deaf'].includes(params.name)) return new Promise(() => {});
    const text =
      params.name === 'environment'
        ? JSON.stringify(process.env)
        : params.name === 'long'
          ? 'x'.repeat(Number(params.arguments?.['length']))
          : `${process.pid}`;
    return { content: [{ type: 'text' as const, text }] };
  });
  return server;
}

if (fault === 'logging') {
  console.log('starting up');
  console.log('{"a": "line of JSON that is no message"}');
}
if (fault === 'printing') {
  console.log(`on stdout: ${JSON.stringify(process.env)}`);
  console.error(`on stderr: ${JSON.stringify(process.env)}`);
  // Cut within the secret by the limit of a line.
  console.error(`${'.'.repeat(8_180)}${process.env['OWN_SECRET'] ?? ''}`);
}
/** How messages are changed before they are written, by the fault. */
const REWRITES: Readonly<Record<string, (text: string) => string>> = {
  batching: (text) => `[${text.trimEnd()}]\n`,
  'text-ids': (text) => text.replace(/"id":(\d+)/, '"id":"$1"'),
};
const rewrite = REWRITES[fault];
if (fault === 'batching') process.stdout.write('\ufeff');
if (rewrite !== undefined) {
  const { write } = process.stdout;
  process.stdout.write = ((text: string, ...others: never[]) =>
    write.call(process.stdout, rewrite(text), ...others)) as typeof write;
}
if (fault === 'flooding') for (let line = 0; line < 2_000; line += 1) console.log('flooding');
if (fault === 'older') {
  // Exits at any request before the handshake, as some older libraries do.
  process.stdin.once('data', (first: Buffer) => {
    if (!first.toString().includes('"initialize"')) process.exit(1);
  });
  await createServer().connect(new StdioServerTransport());
} else {
  serveStdio(createServer);
}
