import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readDocumentedBlocks, runDocumented } from '../../support/docs/documented-commands.js';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';

const PAGE = 'docs/call/events.md';
const BLOCKS = readDocumentedBlocks(PAGE);
const blockOf = (kind: string) => BLOCKS.find((block) => block.kind === kind)?.body ?? '';

interface Declared {
  readonly http_routes: { readonly method: string; readonly path: string }[];
}

/** Compares events with those of the page, which shortens the first one. */
function expectDocumented([open, ...others]: readonly string[]): void {
  const text = blockOf('text').split('\n\n');
  expect(open?.startsWith((text[0] ?? '').replace('…}', ''))).to.equal(true);
  expect(others.join('\n\n')).to.equal(text.slice(1).join('\n\n').trim());
}

describe(PAGE, () => {
  const setup = useScriptedProvider((url) => ({
    'chat.json': describeModule('chat', url, (parse(blockOf('yaml')) as Declared).http_routes),
  }));

  it('declares routes that are valid, and reads their events as written', async () => {
    setup.answer((_request: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"text":"hello"}\n\n');
    });
    const outputs: string[] = [];
    const run = new Function(
      'host',
      'token',
      'show',
      `return (async () => {${blockOf('js')}})()`,
    ) as (host: string, token: string, show: (event: string) => void) => Promise<void>;
    await run(setup.host.url, ROOT, (event) => outputs.push(event));
    expectDocumented(outputs);
  });

  it('has a command that prints the events as written', async () => {
    setup.answer((_request: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end('data: {"text":"hello"}\n\n');
    });
    const command = blockOf('sh').replaceAll('TOKEN', ROOT);
    expectDocumented((await runDocumented(command, setup.host.url)).split('\n\n'));
  });
});
