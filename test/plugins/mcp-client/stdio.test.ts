import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { waitUntil } from '../../support/http/wait-until.js';
import { describeTools } from '../../support/mcp/tools-module.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const SERVER = fileURLToPath(new URL('../../support/mcp/stdio-server.js', import.meta.url));
const TOKEN = 'Bearer dev-service:test:tools.use';

const describeModule = (module: string, fault = '', more: object = {}) =>
  describeTools(
    { command: [process.execPath, SERVER, fault], env: { COLOR: 'red' } },
    ['pid', 'exit', 'hang', 'long', 'environment', 'ask', 'mute', 'deaf'],
    { module, ...more },
  );

describe('an MCP server over stdio', () => {
  const host = use(() => {
    const names = ['plain', 'logging', 'flooding', 'older', 'batching', 'text-ids'];
    return startHost({
      files: {
        ...Object.fromEntries(
          names.map((name) => [
            `${name}.yaml`,
            describeModule(name, name, { limits: { timeout_ms: 10_000 } }),
          ]),
        ),
        'hasty.yaml': describeModule('hasty', '', { limits: { timeout_ms: 2000 } }),
      },
    });
  });

  const call = async (module: string, name: string, body: object | string = {}) => {
    const response = await fetch(`${host.url}/modules/${module}/http/tools/${name}`, {
      method: 'POST',
      headers: { authorization: TOKEN, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: the envelope or a Problem
    const json: any = await response.json();
    return { status: response.status, json, text: json.data?.content[0].text };
  };

  it('answers calls from one process', async () => {
    const [first, second] = await Promise.all([call('plain', 'pid'), call('plain', 'pid')]);
    expect(first.status, JSON.stringify(first.json)).to.equal(200);
    expect(first.text).to.match(/^\d+$/).and.to.equal(second.text);
  });

  for (const [name, end] of Object.entries({ LF: '\n', CR: '\r', CRLF: '\r\n' })) {
    it(`sends arguments with ${name} between values as one message`, async () => {
      const message = {
        jsonrpc: '2.0',
        id: 'smuggled',
        method: 'tools/call',
        params: { name: 'exit', arguments: {} },
      };
      const before = await call('plain', 'pid');
      const { status, text } = await call(
        'plain',
        'pid',
        `{"a":${end}${JSON.stringify(message)}${end}}`,
      );
      expect([status, text]).to.deep.equal([200, before.text]);
      expect((await call('plain', 'pid')).text).to.equal(before.text);
    });
  }

  it('passes PATH and the environment of the descriptor only', async () => {
    const { text } = await call('plain', 'environment');
    expect(Object.keys(JSON.parse(text)).sort()).to.deep.equal(['COLOR', 'MODGATE_MODULE', 'PATH']);
  });

  const hasPrinted = (module: string, line: string) =>
    host
      .logs()
      .some(
        (entry) => entry.msg === 'printed' && entry['module'] === module && entry['line'] === line,
      );

  it('reads batches behind a byte-order mark, from the first message on', async () => {
    expect((await call('batching', 'pid')).status).to.equal(200);
    const starts = host.logs().filter(({ msg }) => msg === 'session started');
    const { revision } = starts.find(({ module }) => module === 'batching') ?? {};
    expect(revision).to.equal('2026-07-28');
  });

  it('skips and logs lines that are no messages', async () => {
    expect((await call('logging', 'pid')).status).to.equal(200);
    expect(hasPrinted('logging', 'starting up')).to.equal(true);
  });

  it('reads the id of a call as a text, as official clients do', async () => {
    const [first, second] = await Promise.all([call('text-ids', 'pid'), call('text-ids', 'pid')]);
    expect([first.status, second.status]).to.deep.equal([200, 200]);
  });

  it('skips and logs a line that a tool prints during a call', async () => {
    const { status, text } = await call('plain', 'ask');
    expect([status, text]).to.deep.equal([200, (await call('plain', 'pid')).text]);
    expect(hasPrinted('plain', 'thinking')).to.equal(true);
  });

  it('ends a process that prints 1,000 other lines before the handshake', async () => {
    await waitUntil('it has given up', async () => (await call('flooding', 'pid')).status === 502);
    expect(host.output()).to.include('printed 1000 lines that are not messages');
  });

  it('starts an older server anew that exits at the first message of newer revisions', async () => {
    const { status, json } = await call('older', 'pid');
    expect(status, JSON.stringify(json)).to.equal(200);
  });

  for (const [tool, how] of Object.entries({
    exit: 'exits',
    mute: 'closes its stdout and runs on',
    deaf: 'closes its stdin and runs on',
  })) {
    it(`fails the call of a server that ${how}, and starts another process`, async () => {
      const before = await call('plain', 'pid');
      const failed = call('plain', tool);
      // A stdin that is closed shows at the next message only.
      if (tool === 'deaf') await waitUntil('it is closed', () => hasPrinted('plain', 'deaf'));
      else await failed;
      await waitUntil('another process answers', async () => {
        const { status, text } = await call('plain', 'pid');
        return status === 200 && text !== before.text;
      });
      const { status, json } = await failed;
      expect([status, json.errors.at(-1).reason]).to.deep.equal([502, 'unavailable']);
    });
  }

  it('ends the wait for a server that hangs at the deadline', async () => {
    await waitUntil('the module answers', async () => (await call('hasty', 'pid')).status === 200);
    const { status, json } = await call('hasty', 'hang');
    expect([status, json.errors.at(-1).reason]).to.deep.equal([502, 'timeout']);
    expect((await call('hasty', 'pid')).status).to.equal(200);
  });

  it('rejects a result that is too long, and a line without end', async () => {
    const { status, json } = await call('plain', 'long', { length: 6_000_000 });
    expect([status, json.detail]).to.satisfy(([code]: [number]) => code === 502);
    await waitUntil('the module answers', async () => (await call('plain', 'pid')).status === 200);
  });
});
