import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { BodyStream, Provider } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { grpcAdapter } from '../../../plugins/grpc/grpc-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { createInvocation, openAdapter } from '../open-adapter.js';
import { LIBRARY_SET, type LibraryServer, startLibrary } from './library-server.js';

const OPTIONS = { method: 'library.v1.Library/SetCover' };
const MIB = 1_048_576;

describe('bodies of bytes of kind grpc', () => {
  let server: LibraryServer;
  let provider: Provider;
  let close: () => Promise<void>;

  before(async () => {
    server = await startLibrary({
      SetCover: async ({ request }) => [{ ...(request as object), contentType: 'text/plain' }],
    });
    const config = { endpoints: [server.url], descriptors: { file: 'set' } };
    const set = readFileSync(LIBRARY_SET);
    ({ provider, close } = await openAdapter(grpcAdapter, config, { files: { set } }));
    const declared = { method: 'PUT', path: '/cover' } as never;
    provider.useRoutes?.([{ declared, options: OPTIONS }]);
  });

  after(async () => {
    await close();
    await server.stop();
  });

  /** @returns the outcome, and the bytes that the call has held */
  const send = async (parts: readonly Uint8Array[]) => {
    const held: number[] = [];
    const bodyStream = (async function* () {
      yield* parts;
    })() as BodyStream;
    const outcome = await provider.invoke(
      createInvocation(
        {
          ...{ method: 'PUT', declaredPath: '/cover', target: '/cover', body: null },
          ...{ bodyStream, options: OPTIONS },
        },
        {
          headers: { 'content-type': 'image/png' },
          hold: (bytes) => {
            held.push(bytes);
            return () => {};
          },
        },
      ),
    );
    return { outcome, held };
  };

  it('are held until the call has ended', async () => {
    const { outcome, held } = await send([Buffer.from('one '), Buffer.from('two')]);
    expect(textOf(outcome)).to.equal('one two');
    expect(held).to.deep.equal([4, 3]);
    expect(server.calls).to.have.length(1);
  });

  it('are rejected above the length of a message', async () => {
    const failure = await failureOf(send(Array<Uint8Array>(17).fill(Buffer.alloc(MIB))));
    expect(failure.message).to.equal('the request cannot be sent');
    expect(server.calls).to.have.length(1);
  });
});
