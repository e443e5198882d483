import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeModule } from '../../support/http/modules.js';
import { readStream, SSE } from '../../support/http/use-streams.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import {
  type StreamingProvider,
  startStreamingProvider,
} from '../../support/streaming-provider.js';

const entry = (id: string, scopes: readonly string[] = ['chat.use']) => ({
  id,
  kind: 'service',
  scopes,
  sha256: createHash('sha256').update(`token-of-${id}`).digest('hex'),
});

/** The host asks every 30 s. */
describe('streams of events whose caller loses its right', () => {
  let provider: StreamingProvider | undefined;
  let host: RunningHost | undefined;

  after(async () => {
    await host?.stop();
    await provider?.stop();
  });

  it('end within 30 s, and no others', async () => {
    provider = await startStreamingProvider((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    const route = { method: 'GET', path: '/events', capability: 'chat.use' };
    host = await startHost({
      files: {
        'm.json': describeModule('m', provider.url, [{ ...route, operation: { stream: 'sse' } }]),
      },
      tokens: { tokens: [entry('gone'), entry('less'), entry('kept')] },
    });
    const open = async (id: string) => {
      const headers = { ...SSE, authorization: `Bearer token-of-${id}` };
      const stream = readStream(await fetch(`${host?.url}/modules/m/http/events`, { headers }));
      await stream.until('data: 1');
      return stream;
    };
    const [gone, less, kept] = [await open('gone'), await open('less'), await open('kept')];
    const tokens = { tokens: [entry('less', ['other']), entry('kept')] };
    writeFileSync(join(host.directory, 'tokens.json'), JSON.stringify(tokens));
    const end = 'event: modgate.end\ndata: {"reason":"unauthorized"}\n\n';
    for (const stream of [gone, less]) expect(await stream.end()).to.include(end);
    expect(await kept.until(/:\n\n:\n\n/)).not.to.include('modgate.end');
    await kept.cancel();
  });
});
