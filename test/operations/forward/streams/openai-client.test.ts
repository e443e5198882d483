import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ROOT } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const route = (path: string, operation: object) => ({
  method: 'POST',
  path,
  capability: 'ai.use',
  operation,
});
const ROUTES = [
  route('/v1/chat/completions', { stream: 'sse' }),
  route('/v1/audio/speech', { response: 'bytes' }),
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
    'ai.json': describeModule('ai', url, ROUTES, { responses: { mode: 'raw' } }),
  }));
  let client: Client | undefined;

  before(async () => {
    const name: string = 'openai';
    const { default: OpenAI } = (await import(name)) as { default: ClientClass };
    const baseURL = `${setup.host.url}/modules/ai/http/v1`;
    client = new OpenAI({ apiKey: ROOT, baseURL, maxRetries: 0 });
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
