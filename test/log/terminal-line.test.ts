import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { toTerminalLine } from '../../core/log/terminal-line.js';
import { copyExamples } from '../support/copy-examples.js';
import { call } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { MAIN } from '../support/main-file.js';
import { createFolder } from '../support/temporary-folder.js';

const LINE = {
  level: 'info',
  time: '2026-01-31T12:00:00.000Z',
  request_id: 'r',
  correlation_id: 'c',
  trace_id: null,
  module: 'shop',
  method: 'GET',
  route: '/items/{id}',
  status: 200,
  actor: 'service:crm',
  duration_ms: 1.94,
  provider_ms: 1.2,
  bytes_in: 0,
  bytes_out: 10,
  attempts: 1,
  failure: null,
  failure_detail: null,
  msg: 'request',
};

describe('log on a terminal', () => {
  let directory: string;
  let terminal: ChildProcess | undefined;

  before(function () {
    directory = createFolder();
    // The script(1) of util-linux; the one of BSD has other arguments.
    const { status, stdout } = spawnSync('script', ['--version'], { encoding: 'utf8' });
    if (status === 0 && stdout.includes('util-linux')) return;
    process.stderr.write('    skipped: no script(1) of util-linux to make a terminal\n');
    this.skip();
  });

  after(async () => {
    if (terminal !== undefined && terminal.exitCode === null) {
      // script(1) ends the host on its terminal; after SIGKILL the host would keep running.
      const closed = once(terminal, 'close');
      terminal.kill('SIGTERM');
      await closed;
    }
  });

  it('prints one readable line for each log line', async () => {
    const modules = copyExamples(directory);
    const command = [
      ...[`exec '${process.execPath}' '${MAIN}' serve --env development --port 0`],
      ...[`--modules '${modules}' --state '${directory}/state'`],
    ].join(' ');
    terminal = spawn('script', ['-qfec', command, join(directory, 'typescript')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let output = '';
    terminal.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const readLines = () => stripVTControlCharacters(output).split('\r\n');
    const find = (pattern: RegExp) => readLines().find((line) => pattern.test(line));
    await waitUntil('the host', () => find(/listening/) !== undefined);
    const url = /http:\/\/127\.0\.0\.1:(\d+)/.exec(find(/listening/) ?? '');
    await call({ port: Number(url?.[1]) }, { target: '/modules/notes/http/notes' });
    await waitUntil('the request', () => find(/GET notes/) !== undefined);
    expect(output).to.include('\u001b[');
    expect(find(/listening/)).to.match(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: listening \{"url":/);
    expect(find(/GET notes/)).to.match(
      /^\[[\d:.]+\] INFO: GET notes \/notes 200 [\d.]+ ms, provider [\d.]+ ms \{"request_id":"req_/,
    );
    terminal.stdin?.write('\u0003');
    const [code] = await once(terminal, 'close');
    expect(code).to.equal(0);
    expect(find(/stopped/)).to.not.equal(undefined);
  });
});

describe('request line on a terminal', () => {
  const messageOf = (overrides: object) =>
    JSON.parse(toTerminalLine(JSON.stringify({ ...LINE, ...overrides })));

  it('starts with the outcome, followed by ids', () => {
    expect(messageOf({})).to.deep.equal({
      level: 'info',
      time: LINE.time,
      msg: 'GET shop /items/{id} 200 1.9 ms, provider 1.2 ms',
      request_id: 'r',
      actor: 'service:crm',
    });
    const failure = { failure: 'timeout', failure_detail: 'no response within 5 ms' };
    expect(messageOf({ status: 502, attempts: 3, ...failure })).to.include({
      msg: 'GET shop /items/{id} 502 1.9 ms, provider 1.2 ms',
      attempts: 3,
      ...failure,
    });
    expect(messageOf({ module: null, route: null, provider_ms: null, actor: null })).to.deep.equal({
      level: 'info',
      time: LINE.time,
      msg: 'GET 200 1.9 ms',
      request_id: 'r',
    });
  });

  it('leaves out empty fields of other lines', () => {
    const text = '{"msg":"module changed","module":"shop","reason":null,"changed":[]}';
    expect(toTerminalLine(text)).to.equal('{"msg":"module changed","module":"shop"}');
  });

  it('does not change other text', () => {
    for (const text of ['{"msg":"listening"}', 'no JSON', 'null']) {
      expect(toTerminalLine(text)).to.equal(text);
    }
  });
});
