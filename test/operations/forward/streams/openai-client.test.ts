import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';
import { waitUntil } from '../../../support/http/wait-until.js';
import { started } from '../../../support/started.js';

const route = (path: string, operation: object) => ({
  method: 'POST',
  path,
  capability: 'ai.use',
  operation,
});
const ROUTES = [
  route('/v1/chat/completions', { stream: 'sse' }),
  route('/v1/audio/speech', { response: 'bytes' }),
  { method: 'POST', path: '/open', capability: 'ai.use', access: 'public' },
  route('/v1/files', { body: 'bytes', body_types: ['multipart/form-data'] }),
];
const WORDS = ['Hello', ' from', ' afar'];
const MESSAGES = [{ role: 'user' as const, content: 'hi' }];

interface Completion {
  readonly choices: readonly {
    readonly message?: { readonly content: string };
    readonly delta?: { readonly content?: string };
  }[];
}

/** The part of the client that is used. */
interface Client {
  readonly chat: {
    readonly completions: {
      create(body: object & { stream: true }): Promise<AsyncIterable<Completion>>;
      create(body: object): Promise<Completion>;
    };
  };
  readonly files: {
    create(body: { readonly file: File; readonly purpose: string }): Promise<{
      readonly filename: string;
      readonly bytes: number;
    }>;
  };
  readonly audio: { readonly speech: { create(body: object): Promise<Response> } };
}

type ClientClass = new (options: {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly maxRetries: number;
}) => Client;

describe('the client of OpenAI-compatible services', () => {
  const setup = useScriptedProvider((url) => ({
    'ai.json': describeModule('ai', url, ROUTES, {
      responses: { mode: 'raw', problems: 'openai' },
      public: true,
    }),
    'plain.json': describeModule('plain', url, ROUTES, { responses: { mode: 'raw' } }),
  }));
  let OpenAI: ClientClass | undefined;
  const connect = (apiKey: string, module = 'ai') =>
    new (started(OpenAI))({
      apiKey,
      baseURL: `${setup.host.url}/modules/${module}/http/v1`,
      maxRetries: 0,
    });
  let client: Client | undefined;

  before(async () => {
    const name: string = 'openai';
    OpenAI = ((await import(name)) as { default: ClientClass }).default;
    client = connect(ROOT);
    setup.answer((request, response) => void complete(request, response));
  });

  it('reads a chat at once', async () => {
    const answer = await client?.chat.completions.create({ model: 'm', messages: MESSAGES });
    expect(answer?.choices[0]?.message?.content).to.equal(WORDS.join(''));
  });

  it('reads a chat as a stream', async () => {
    const body = { model: 'm', messages: MESSAGES, stream: true } as const;
    const words: (string | undefined)[] = [];
    for await (const { choices } of (await client?.chat.completions.create(body)) ?? []) {
      words.push(choices[0]?.delta?.content);
    }
    expect(words).to.deep.equal(WORDS);
    await waitUntil(
      'the call is recorded',
      async () => (await setup.lastCall())['stream_end'] === 'complete',
    );
  });

  it('gets the error of the service', async () => {
    const error: unknown = await client?.chat.completions
      .create({ model: 'none', messages: MESSAGES, stream: true })
      .catch((thrown: unknown) => thrown);
    expect(error).to.include({ status: 404, code: 'model_not_found' });
  });

  it('gets the errors of the host', async () => {
    const fail = (apiKey: string, module?: string): Promise<unknown> =>
      connect(apiKey, module)
        .chat.completions.create({ model: 'broken', messages: MESSAGES })
        .catch((thrown: unknown) => thrown);
    expect(await fail('dev-service:ann:ai.other')).to.include({
      status: 403,
      code: 'forbidden',
      type: 'forbidden',
      param: null,
      message: '403 a declared capability is required',
    });
    expect(await fail(ROOT)).to.include({ status: 502, code: 'external_dependency_failure' });
    expect(await fail(ROOT, 'plain')).to.include({ status: 502, code: undefined });
  });

  it('gets errors in the form of the module only as a known caller or on a public route', async () => {
    const read = async (module: string, path: string, headers = {}) => {
      const response = await fetch(`${setup.host.url}/modules/${module}/http${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{',
      });
      const { error, ...problem } = (await response.json()) as Record<string, unknown>;
      const { request_id: _, correlation_id: __, ...constant } = problem;
      return { error, problem: constant };
    };
    const authorization = { authorization: `Bearer ${ROOT}` };
    const anonymous = await Promise.all(['ai', 'plain', 'none'].map((name) => read(name, '/x')));
    for (const answer of anonymous) expect(answer).to.deep.equal(anonymous[0]);
    expect(anonymous[0]).to.have.property('error', undefined);
    for (const answer of [await read('ai', '/x', authorization), await read('ai', '/open')]) {
      const { code, detail } = answer.problem;
      const expected = { message: detail, type: code, param: null, code };
      expect(answer.error).to.deep.equal(expected);
    }
    for (const name of ['plain', 'none']) {
      expect((await read(name, '/x', authorization)).error).to.equal(undefined);
    }
  });

  it('reads speech', async () => {
    const body = { model: 'm', voice: 'v', input: 'hi' };
    const response = await client?.audio.speech.create(body);
    expect(await response?.text()).to.equal('\u0001sound');
  });

  it('uploads a file', async () => {
    const file = new File([Buffer.alloc(200_000, 7)], 'a.jsonl');
    const stored = await client?.files.create({ file, purpose: 'batch' });
    expect(stored).to.include({ filename: 'a.jsonl', bytes: 200_000 });
    expect(await setup.lastCall())
      .to.have.property('bytes_in')
      .above(200_000);
  });
});

/** Responds like such services. */
async function complete(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  await once(request, 'end');
  if (request.url === '/v1/files') {
    const headers = { 'content-type': String(request.headers['content-type']) };
    const form = await new Response(Buffer.concat(parts), { headers }).formData();
    const { name: filename, size: bytes } = form.get('file') as File;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ filename, bytes, purpose: form.get('purpose') }));
    return;
  }
  const text = Buffer.concat(parts).toString();
  const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean };
  if (request.url === '/v1/audio/speech') {
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('\u0001sound');
  } else if (model === 'broken') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{');
  } else if (model === 'none') {
    const error = { message: 'there is no such model', code: 'model_not_found' };
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error }));
  } else if (stream === true) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const content of WORDS) {
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  } else {
    const message = { role: 'assistant', content: WORDS.join('') };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message }] }));
  }
}
