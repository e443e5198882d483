import { create } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { expect } from 'chai';
import { createSchema } from '../../../plugins/grpc/schema.js';

function createFile(name: string, type: string) {
  const field = [{ name: 'a', number: 1, typeName: 'missing.Type' }];
  return create(FileDescriptorProtoSchema, {
    ...{ name: 'a.proto', package: name, syntax: 'proto3' },
    messageType: [{ name: type, field }],
  });
}

describe('names of a gRPC server', () => {
  for (const [title, name, type] of [
    ['a package of many parts', Array(40).fill('a').join('.'), 'Type'],
    ['a long package', 'a'.repeat(600), 'Type'],
    ['a name of many parts', 'a', Array(40).fill('a').join('.')],
  ] as const) {
    it(`are rejected with ${title}, whose scopes would be searched one by one`, () => {
      expect(() => createSchema([createFile(name, type)])).to.throw('a name of over');
    });
  }

  it('may be as long as those of real services', () => {
    const name = 'google.ads.googleads.v17.services.internal';
    expect(() => createSchema([createFile(name, 'MutateCampaignsRequest')])).to.not.throw();
  });
});
