import { expect } from 'chai';
import { createSchema } from '../../../plugins/grpc/schema.js';
import { type KnownSchema, ReflectedSource } from '../../../plugins/grpc/schema-source.js';

const log = { debug() {}, info() {}, warn() {}, error() {} };

describe('services of kind grpc that are read by reflection', () => {
  it('are those of the latest routes, also if an earlier read ends later', async () => {
    const answers = new Map<string, (schema: KnownSchema) => void>();
    const { signal } = new AbortController();
    const source = new ReflectedSource({
      read: ([service = '']) => new Promise((resolve) => answers.set(service, resolve)),
      scope: { signal, defer: () => {} },
      log,
    });
    const answer = async (service: string) => {
      const schema = createSchema([]);
      answers.get(service)?.(schema);
      await new Promise(setImmediate);
      return schema;
    };
    source.use(['a.Earlier']);
    source.use(['a.Later']);
    const later = await answer('a.Later');
    expect(source.schema).to.equal(later);
    await answer('a.Earlier');
    expect(source.schema).to.equal(later);
  });
});
