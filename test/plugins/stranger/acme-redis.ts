/** The plugin of another author, who knows the package `modgate/contract` and its pages alone. */
export const ACME_REDIS: Readonly<Record<string, string>> = {
  'plugin.json': JSON.stringify({
    name: 'acme-redis',
    version: '1.0.0',
    contract: 1,
    kinds: ['acme-redis'],
    entry: './index.mjs',
  }),
  'index.mjs': `import { connect } from 'node:net';
import { defineAdapter, isProviderFailure, ProviderFailure } from 'modgate/contract';
import { enums, integer, object, string } from 'superstruct';

/** One connection for each call: small, and enough for a test. */
function send(port, parts, signal) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let phase = 'connecting';
    let text = '';
    const fail = (cause) =>
      reject(new ProviderFailure('unavailable', 'no answer of Redis', { cause, phase }));
    signal.addEventListener('abort', () => {
      socket.destroy();
      reject(isProviderFailure(signal.reason) ? signal.reason : fail(signal.reason));
    });
    socket.once('connect', () => {
      phase = 'responding';
      const bulks = parts.map((part) => '$' + Buffer.byteLength(part) + '\\r\\n' + part + '\\r\\n');
      socket.write('*' + parts.length + '\\r\\n' + bulks.join(''));
    });
    socket.setEncoding('utf8').on('data', (piece) => {
      text += piece;
      const [head, value] = text.split('\\r\\n');
      if (head[0] === '$' && head !== '$-1' && value === undefined) return;
      socket.destroy();
      if (head[0] === '-') reject(new ProviderFailure('protocol', 'Redis reports an error'));
      else resolve(head[0] === '$' ? (head === '$-1' ? null : value) : head.slice(1));
    });
    socket.once('error', fail);
  });
}

const adapter = defineAdapter({
  kind: 'acme-redis',
  config: object({ port: integer() }),
  supports: {},
  operation: object({ command: enums(['GET', 'INCR']), key: string() }),
  describeConfig: () => ({ hostUses: [] }),
  open: ({ port }, context) => {
    const commands = context.counter('commands_total', 'Commands that were sent.');
    let keys = 0;
    return {
      manifest: async () => {
        throw new ProviderFailure('refused', 'Redis has no manifest');
      },
      check: async (signal) => void (await send(port, ['PING'], signal)),
      useRoutes: (routes) => {
        keys = routes.length;
      },
      facts: () => [{ name: 'keys', value: String(keys) }],
      invoke: async ({ operation, signal }) => {
        const { command, key } = operation.options;
        const name = key.replace(/\\{(\\w+)\\}/g, (_, parameter) => operation.pathParams[parameter]);
        commands.add();
        const value = await send(port, [command, name], signal);
        const headers = { 'content-type': 'application/json' };
        if (value === null) return { status: 404, headers, body: Buffer.from('{}') };
        return { status: 200, headers, body: Buffer.from(JSON.stringify({ value })) };
      },
    };
  },
});

export default { adapters: [adapter] };
`,
};
