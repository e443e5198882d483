import { expect } from 'chai';
import { createSchema } from '../../../plugins/grpc/schema.js';
import { type KnownSchema, ReflectedSource } from '../../../plugins/grpc/schema-source.js';

const log = { debug() {}, info() {}, warn() {}, error() {} };

describe('services of kind grpc that are read by reflection', () => {
  const { signal } = new AbortController();

  /** Reads `a.Earlier`, and `a.Later` before the first read has ended. */
  function readTwice() {
    const answers = new Map<string, (schema: KnownSchema | Promise<never>) => void>();
    const source = new ReflectedSource({
      read: ([service = '']) => new Promise((resolve) => answers.set(service, resolve)),
      scope: { signal, defer: () => {} },
      log,
    });
    source.use(['a.Earlier']);
    source.use(['a.Later']);
    const answer = async (service: string) => {
      const schema = createSchema([]);
      answers.get(service)?.(schema);
      await new Promise(setImmediate);
      return schema;
    };
    const fail = async (service: string) => {
      answers.get(service)?.(Promise.reject(new Error('lost')));
      await new Promise(setImmediate);
    };
    return { source, answer, fail };
  }

  it('are those of the latest routes, also if an earlier read ends later', async () => {
    const { source, answer } = readTwice();
    const later = await answer('a.Later');
    expect(source.schema).to.equal(later);
    await answer('a.Earlier');
    expect(source.schema).to.equal(later);
  });

  it('have no problem if an earlier read fails later', async () => {
    const { source, answer, fail } = readTwice();
    await answer('a.Later');
    await fail('a.Earlier');
    expect(source.problem).to.equal(null);
  });
});
