import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { parse } from 'yaml';
import { useBrowser } from '../../support/browser/browser.js';
import { readDocumentedBlocks } from '../../support/docs/documented-commands.js';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';

const PAGE = 'docs/call/websockets.md';
const BLOCKS = readDocumentedBlocks(PAGE);
const blockOf = (kind: string) => BLOCKS.find((block) => block.kind === kind)?.body ?? '';

interface Declared {
  readonly http_routes: { readonly method: string; readonly path: string }[];
}

describe(PAGE, () => {
  const setup = useScriptedProvider((url) => ({
    'chat.json': describeModule('chat', url, (parse(blockOf('yaml')) as Declared).http_routes),
  }));

  before(() => {
    const server = new WebSocketServer({ noServer: true });
    setup.provider.onUpgrade((request, connection, head) => {
      server.handleUpgrade(request, connection, head, (peer) => {
        peer.on('message', (data) => peer.send(`echo of ${data}`));
      });
    });
  });

  it('connects from a program as written', async () => {
    const code = blockOf('js').replace(/^import .*$/m, '');
    const run = new Function('host', 'token', 'WebSocket', 'show', `${code}\nreturn socket;`) as (
      host: string,
      token: string,
      socket: typeof WebSocket,
      show: (text: string) => void,
    ) => WebSocket;
    let socket: WebSocket | undefined;
    const text = await new Promise((resolve) => {
      socket = run(setup.host.url, ROOT, WebSocket, resolve);
    });
    expect(text).to.equal('echo of hello');
    socket?.close();
  });

  describe('in a browser', () => {
    const browser = useBrowser();

    it('connects from the page as written, with a token', async () => {
      const pages = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html').end(blockOf('html'));
      }).listen(0, '127.0.0.1');
      await once(pages, 'listening');
      const { port } = pages.address() as AddressInfo;
      const { host } = new URL(setup.host.url);
      const opened = await browser.open(`http://127.0.0.1:${port}/?host=${host}`);
      try {
        await opened.page.fill('#token', ROOT);
        await opened.page.click('#connect');
        await opened.page.getByText('echo of hello').waitFor();
      } finally {
        await opened.close();
        pages.close();
      }
    });
  });
});
