import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { useBrowser, type WatchedPage } from '../../support/browser/browser.js';
import { findAccessibilityViolations } from '../../support/browser/find-violations.js';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';
import { beginEvents } from '../../support/http/use-streams.js';
import { acceptMessages } from '../../support/http/use-websockets.js';
import { waitUntil } from '../../support/http/wait-until.js';

const route = (method: string, path: string, operation: object) => ({
  method,
  path,
  capability: 'shop.use',
  operation,
});

const ROUTES = [
  route('GET', '/events', { stream: 'sse' }),
  route('GET', '/lines', { stream: 'ndjson' }),
  route('POST', '/chat', { stream: 'sse', stream_optional: true }),
  route('GET', '/files/{name}', { response: 'bytes' }),
  route('POST', '/images', { body: 'bytes', body_types: ['image/*', 'application/pdf'] }),
  route('POST', '/orders', { body_types: ['text/csv'], input_schema: { type: 'object' } }),
  route('GET', '/rooms/{room}', { stream: 'websocket' }),
  route('GET', '/search', {
    query_schema: {
      type: 'object',
      properties: {
        tag: { type: 'array', items: { type: 'string' } },
        order: { enum: ['newest', 'oldest'], default: 'newest' },
        sold: { type: 'boolean' },
        limit: { type: 'integer' },
      },
    },
    parameters: [
      {
        ...{ name: 'ids', in: 'query', style: 'pipeDelimited', explode: false },
        schema: { type: 'array', items: { type: 'integer' } },
      },
    ],
  }),
];

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const MARKUP = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

describe('try it of the docs page', () => {
  const browser = useBrowser();
  const setup = useScriptedProvider((url) => ({
    'shop.json': describeModule('shop', url, ROUTES),
    'raw.json': describeModule(
      'raw',
      url,
      [route('GET', '/watch', { stream: 'ndjson', stream_types: ['application/json'] })],
      { responses: { mode: 'raw' } },
    ),
  }));
  let watched: WatchedPage;
  let page: Page;

  const open = async (path: string, token = ROOT): Promise<Locator> => {
    watched = await browser.open(`${setup.host.url}/docs`);
    page = watched.page;
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Show' }).click();
    await page.locator('.operation > summary', { hasText: path }).click();
    return page.locator('.operation[open]');
  };
  const press = (operation: Locator, name: string) =>
    operation.getByRole('button', { name, exact: true }).click();

  afterEach(async () => {
    const violations = await watched.violations();
    expect(violations.filter((text) => !text.startsWith('download: blob:'))).to.deep.equal([]);
    await watched.close();
  });

  it('shows events when they come, and closes the stream when it is stopped', async () => {
    const operation = await open('/events');
    let write = (_text: string) => {};
    let accept: string | undefined;
    const closed = new Promise<void>((resolve) => {
      setup.answer((request, response) => {
        ({ accept } = request.headers);
        beginEvents(response);
        write = (text) => void response.write(text);
        response.on('close', resolve);
        write('data: <b>one</b>\n\ndata: tw');
      });
    });
    await press(operation, 'Send');
    const received = operation.getByRole('region', { name: 'Received' });
    await received.getByText('data: <b>one</b>').waitFor();
    await operation.getByText('2 parts, open').waitFor();
    expect(await received.innerText()).not.to.include('data: tw');
    write('o\r\n\r');
    write('\n: a comment\n\n');
    await received.getByText('data: two').waitFor();
    await operation.getByText('3 parts, open').waitFor();
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
    await press(operation, 'Stop');
    await operation.getByText('3 parts, stopped').waitFor();
    await closed;
    expect(accept).to.include('text/event-stream');
  });

  it('keeps the newest 100 lines, and at most 64 KiB', async () => {
    const operation = await open('/lines');
    const answer = (lines: readonly string[]) =>
      setup.answer((_request, response) => {
        beginEvents(response, 'application/x-ndjson');
        response.end(lines.map((line) => `${line}\n`).join(''));
      });
    answer(Array.from({ length: 250 }, (_, at) => `{"at":${at}}`));
    await press(operation, 'Send');
    await operation.getByText('252 parts, the newest 100 shown, ended').waitFor();
    const received = operation.getByRole('region', { name: 'Received' });
    const lines = (await received.innerText()).split('\n');
    expect([lines.length, lines[0]]).to.deep.equal([100, '{"at":151}']);
    answer(Array.from({ length: 50 }, () => JSON.stringify('é'.repeat(5000))));
    await press(operation, 'Send');
    await operation.getByText(/^52 parts, the newest \d+ shown, ended$/).waitFor();
    const text = await received.innerText();
    expect(Buffer.byteLength(text)).to.be.within(50_000, 65_536);
    expect(text).to.match(/\{"modgate\.end":.*\}$/);
  });

  it('sends lists of values, and one of the listed values', async () => {
    const operation = await open('/search');
    let target: string | undefined;
    setup.answer((request, response) => {
      target = request.url;
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
    await operation.getByLabel('tag (query)').fill('red, wine\n\nb&w\n');
    await operation.getByLabel('order (query)').selectOption('oldest');
    await operation.getByLabel('sold (query)').selectOption('false');
    await operation.getByLabel('ids (query)').fill('1\n2');
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
    await press(operation, 'Send');
    await operation
      .locator('.response')
      .getByText(/^200 in \d+ ms$/)
      .waitFor();
    expect(target).to.equal(
      '/search?tag=red%2C%20wine&tag=b%26w&order=oldest&sold=false&ids=1%7C2',
    );
  });

  it('shows the other answer of a stream: JSON, or lines that are called JSON', async () => {
    const chat = await open('/chat');
    setup.answer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"text":"hello"}');
    });
    await press(chat, 'Send');
    await chat.locator('.response').getByText('"text": "hello"').waitFor();
    expect(await watched.violations()).to.deep.equal([]);
    await watched.close();
    const watch = await open('/watch');
    setup.answer((_request, response) => {
      beginEvents(response, 'application/json');
      response.write('{"at":1}\n');
    });
    await press(watch, 'Send');
    await watch.getByText('1 part, open').waitFor();
    await watch.getByText('{"at":1}', { exact: true }).waitFor();
    await press(watch, 'Stop');
    await watch.getByText('1 part, stopped').waitFor();
  });

  it('shows the Problem of a stream that did not begin', async () => {
    const operation = await open('/events');
    setup.answer((_request, response) => {
      response.statusCode = 500;
      response.end();
    });
    await press(operation, 'Send');
    await operation
      .locator('.response')
      .getByText(/^502 .* in \d+ ms$/)
      .waitFor();
  });

  const readFileRoute = async (operation: Locator, name: string, type: string, body: Buffer) => {
    setup.answer((_request, response) => {
      response.setHeader('content-type', type);
      response.end(body);
    });
    await operation.getByLabel('name (path)').fill(name);
    await press(operation, 'Send');
    const shown = operation.locator('.response', { hasText: `${body.length} bytes, ${type}` });
    await shown.waitFor();
    return shown;
  };

  it('shows size and type of bytes, an image as such, and saves them unchanged', async () => {
    const operation = await open('/files/{name}');
    const shown = await readFileRoute(operation, 'a.png', 'image/png', PNG);
    const image = shown.getByRole('img', { name: 'The response' });
    await image.waitFor();
    const readWidth = "document.querySelector('.response img').naturalWidth";
    await waitUntil('an image is shown', async () => (await page.evaluate(readWidth)) === 1);
    const link = shown.getByRole('link', { name: 'Download' });
    const url = await link.getAttribute('href');
    const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
    expect(download.suggestedFilename()).to.equal('a.png');
    expect(await readFile(await download.path())).to.deep.equal(PNG);
    await page.evaluate('window.revoked = []');
    await page.evaluate(
      'URL.revokeObjectURL = ((revoke) => (url) => { revoked.push(url); revoke.call(URL, url); })(URL.revokeObjectURL)',
    );
    await readFileRoute(operation, 'a.zip', 'application/zip', Buffer.from('PK'));
    expect(await page.evaluate('window.revoked')).to.deep.equal([url]);
    expect(await shown.getByRole('img').count()).to.equal(0);
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
  });

  it('shows markup as text or not at all', async () => {
    const operation = await open('/files/{name}');
    for (const type of ['text/html', 'image/svg+xml', 'image/x-unknown']) {
      const shown = await readFileRoute(operation, 'a', type, Buffer.from(MARKUP));
      expect(await shown.locator('img, svg, script, iframe, object').count(), type).to.equal(0);
      const hasText = (await shown.innerText()).includes(MARKUP);
      expect(hasText, type).to.equal(type === 'text/html');
    }
  });

  const receiveBodies = () => {
    const bodies: [type: string | undefined, body: Buffer][] = [];
    setup.answer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      bodies.push([request.headers['content-type'], Buffer.concat(pieces)]);
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
    return bodies;
  };
  const sendFile = async (operation: Locator, name: string, mimeType: string, buffer: Buffer) => {
    await operation.getByLabel('File').setInputFiles({ name, mimeType, buffer });
    await press(operation, 'Send');
    await operation
      .locator('.response')
      .getByText(/^200 in/)
      .waitFor();
    // The next response replaces this one.
    await operation.locator('.response').evaluate('(one) => one.replaceChildren()');
  };

  it('uploads a file as it is, with its own type or one of the route', async () => {
    const bodies = receiveBodies();
    const operation = await open('/images');
    const type = operation.getByLabel('Content type');
    expect(await type.inputValue()).to.equal('application/pdf');
    await operation.getByText('image/*, application/pdf', { exact: true }).waitFor();
    const bytes = Buffer.alloc(300_000, PNG);
    await sendFile(operation, 'a.png', 'image/png', bytes);
    await sendFile(operation, 'a.bin', '', Buffer.from('%PDF'));
    expect(bodies).to.deep.equal([
      ['image/png', bytes],
      ['application/pdf', Buffer.from('%PDF')],
    ]);
    await type.fill('text/html');
    await press(operation, 'Send');
    await operation.locator('.response').getByText(/^400 /).waitFor();
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
  });

  it('sends a text or a file where a route takes JSON and other types', async () => {
    const bodies = receiveBodies();
    const operation = await open('/orders');
    await operation.getByLabel('Body').fill('{"tea":1}');
    await press(operation, 'Send');
    await operation
      .locator('.response')
      .getByText(/^200 in/)
      .waitFor();
    await operation.locator('.response').evaluate('(one) => one.replaceChildren()');
    await sendFile(operation, 'a.csv', 'text/csv', Buffer.from('tea,1'));
    expect(bodies).to.deep.equal([
      ['application/json', Buffer.from('{"tea":1}')],
      ['text/csv', Buffer.from('tea,1')],
    ]);
  });

  it('opens a WebSocket with the token, sends lines and shows the frames of both ends', async () => {
    const operation = await open('/rooms/{room}');
    let protocols: string | undefined;
    let target: string | undefined;
    setup.provider.onUpgrade((request, connection, head) => {
      protocols = request.headers['sec-websocket-protocol'];
      target = request.url;
      acceptMessages(request, connection, head, (peer, data) => {
        if (String(data) === 'end') peer.close(4001, 'enough');
        else peer.send(String(data) === 'bytes' ? PNG : `you said ${String(data)}`);
      });
    });
    const say = async (text: string) => {
      await operation.getByLabel('Message').fill(text);
      await press(operation, 'Send');
    };
    const received = operation.getByRole('region', { name: 'Received' });
    await operation.getByLabel('room (path)').fill('a b');
    await press(operation, 'Connect');
    await operation.getByText('0 parts, open').waitFor();
    await say('<b>hi</b>');
    await received.getByText('received: you said <b>hi</b>').waitFor();
    expect(await received.innerText()).to.match(/^sent: <b>hi<\/b>\n/);
    await say('bytes');
    await received.getByText(`received: ${PNG.length} bytes`).waitFor();
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
    await press(operation, 'Close');
    await operation.getByText('4 parts, closed: 1000').waitFor();
    expect(await operation.getByRole('button', { name: 'Send' }).isDisabled()).to.equal(true);
    await press(operation, 'Connect');
    await operation.getByText('0 parts, open').waitFor();
    await say('end');
    await operation.getByText('1 part, closed: 4001 enough').waitFor();
    expect([target, protocols]).to.deep.equal(['/rooms/a%20b', undefined]);
  });

  it('says where to look when a WebSocket does not open', async () => {
    const operation = await open('/rooms/{room}', 'dev-service:ann');
    await operation.getByLabel('room (path)').fill('a');
    await press(operation, 'Connect');
    await operation.getByText('0 parts, closed: 1006 see modgate calls').waitFor();
    await operation.getByLabel('room (path)').fill('..');
    await press(operation, 'Connect');
    await operation.getByText('not connected: a path parameter must have').waitFor();
  });
});
