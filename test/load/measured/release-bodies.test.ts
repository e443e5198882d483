import { expect } from 'chai';
import { measureHeldMs } from '../../support/held-ms.js';
import { ClientThread } from '../../support/http/client-thread.js';
import { buildManifest } from '../../support/http/modules.js';
import { slowness } from '../../support/slowness.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const MAX_HELD_MS = 50;
const MIB = 1_048_576;
const MAX_BYTES = 24 * MIB;

const publish = (files: object) => JSON.stringify({ files, base: null });
const nameFiles = (count: number, content: (index: number) => unknown) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`d/f${index}.bin`, content(index)]),
  );
const repeat = (text: string, bytes = 23 * MIB) => text.repeat(Math.floor(bytes / text.length));

const describeEmpty = (index: number) => {
  const descriptor = {
    module: `m${index}`,
    provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:9'] } },
    manifest: { inline: buildManifest(`m${index}`, []) },
  };
  return Buffer.from(JSON.stringify(descriptor)).toString('base64');
};

/** Bodies that the parse rejects, after it has read as much of them as it can. */
const REJECTED: Readonly<Record<string, () => string>> = {
  'a million members': () => publish(nameFiles(900_000, () => 'YWFh')),
  'members of no file': () => `{${repeat('"a":1,')}"b":1}`,
  'an array of arrays': () => `{"files":{"a":[${repeat('[],')}0]},"base":null}`,
  'a long array': () => `{"files":{},"base":[${repeat('0,')}0]}`,
  'many short strings': () => `{"files":{},"base":[${repeat('"ab",')}0]}`,
  'deep nesting': () => `${repeat('[', 11 * MIB)}${repeat(']', 11 * MIB)}`,
  'unknown members with long names': () =>
    `{${Array.from({ length: 10_000 }, (_, index) => `"${'x'.repeat(2000)}${index}":1`).join()}}`,
  'files that are not base64': () => publish(nameFiles(10_000, () => '!'.repeat(2000))),
  'the last file that is not base64': () =>
    publish(nameFiles(10_000, (index) => (index === 9999 ? '!' : 'YWFh'.repeat(500)))),
  'files that are numbers': () => publish(nameFiles(10_000, (index) => index)),
  'escapes in every character': () => `{"files":{"a":"${repeat('\\u0041')}"},"base":null}`,
  'one string that does not end': () => `{"files":{"a":"${repeat('a')}`,
};

describe('the body of a release', () => {
  let host: RunningHost;
  let client: ClientThread;

  before(async () => {
    host = await startHost({ args: ['--modules', 'store:'] });
    client = new ClientThread();
  });

  after(async () => {
    await client?.close();
    await host?.stop();
  });

  const measure = async (text: string) => {
    const body = new TextEncoder().encode(text);
    expect(body.length).to.be.below(MAX_BYTES);
    let answer = '';
    const heldMs = await measureHeldMs(async () => {
      answer = await client.post(host.port, '/releases', body);
    });
    return { heldMs, status: Number(answer.split(' ', 2)[1]) };
  };

  it('is parsed in a thread that has started before', async () => {
    expect((await measure('{}')).status).to.equal(400);
  });

  for (const [name, create] of Object.entries(REJECTED)) {
    it(`holds the event loop for less than ${MAX_HELD_MS} ms: ${name}`, async () => {
      const { heldMs, status } = await measure(create());
      expect(status).to.equal(400);
      expect(heldMs).to.be.below(MAX_HELD_MS * slowness());
    });
  }

  it(`holds the event loop for less than ${MAX_HELD_MS} ms with 1,000 descriptors`, async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`f${index}.json`, describeEmpty(index)]),
    );
    // Its base is not active, so that it is checked and not served.
    const unknown = `sha256:${'0'.repeat(64)}`;
    const { heldMs, status } = await measure(JSON.stringify({ files, base: unknown }));
    expect(status).to.equal(409);
    expect(heldMs).to.be.below(MAX_HELD_MS * slowness());
  });
});
