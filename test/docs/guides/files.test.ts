import { execFile } from 'node:child_process';
import { readFileSync, truncateSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readDocumentedBlocks } from '../../support/docs/documented-commands.js';
import { ROOT } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useScriptedProvider } from '../../support/http/use-scripted-provider.js';
import { createFolder } from '../../support/temporary-folder.js';

const PAGE = 'docs/call/files.md';
const BLOCKS = readDocumentedBlocks(PAGE);
const blocksOf = (kind: string) => BLOCKS.filter((block) => block.kind === kind);
const REPORT = Buffer.alloc(100_000, 'a page of the report, ');

interface Declared {
  readonly http_routes: { readonly method: string; readonly path: string }[];
}

/** A file server with ranges, and a form for uploads. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'POST') {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers = { 'content-type': String(request.headers['content-type']) };
    const form = await new Response(Buffer.concat(parts), { headers }).formData();
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ size: (form.get('file') as File).size }));
    return;
  }
  const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  const start = Number(from ?? 0);
  const range = `bytes ${start}-${REPORT.length - 1}/${REPORT.length}`;
  response.writeHead(from === undefined ? 200 : 206, {
    'content-type': 'application/pdf',
    'content-length': REPORT.length - start,
    'accept-ranges': 'bytes',
    ...(from !== undefined && { 'content-range': range }),
  });
  response.end(REPORT.subarray(start));
}

describe(PAGE, () => {
  let folder: string;
  const setup = useScriptedProvider((url) => ({
    'reports.json': describeModule(
      'reports',
      url,
      (parse(blocksOf('yaml')[0]?.body ?? '') as Declared).http_routes,
    ),
  }));

  before(() => {
    folder = createFolder();
    setup.answer((request, response) => void serve(request, response));
  });

  const run = (command: string) => {
    const text = command
      .replaceAll('127.0.0.1:3000', new URL(setup.host.url).host)
      .replaceAll('TOKEN', ROOT);
    return promisify(execFile)('bash', ['-c', text], { cwd: folder });
  };

  it('has commands that download a file, and continue a download that was cut', async () => {
    const [download, resume] = blocksOf('sh').map(({ body }) => body);
    const file = join(folder, 'report.pdf');
    await run(download ?? '');
    expect(readFileSync(file).equals(REPORT)).to.equal(true);
    truncateSync(file, 30_000);
    await run(resume ?? '');
    expect(readFileSync(file).equals(REPORT)).to.equal(true);
    expect(await setup.lastCall()).to.include({ status: 206, bytes_out: 70_000 });
  });

  it('has code that uploads a form', async () => {
    const code = blocksOf('js')[0]?.body ?? '';
    const upload = new Function('host', 'token', 'file', `return (async () => {${code}})()`) as (
      ...args: unknown[]
    ) => Promise<void>;
    const file = new File([REPORT], 'report.pdf', { type: 'application/pdf' });
    await upload(setup.host.url, ROOT, file);
    const { status, method, bytes_in } = await setup.lastCall();
    expect({ status, method }).to.deep.equal({ status: 200, method: 'POST' });
    expect(bytes_in).to.be.above(REPORT.length);
  });
});
