import { readFileSync } from 'node:fs';
import { type ResolvedConfig, Secret } from '../../contract/index.js';
import type { FakeReferences } from './fake-open-context.js';

/** Resolves the references of a config like a command; files that are not given are read. */
export function resolveFakeReferences({
  secrets = {},
  files = {},
  paths = {},
}: FakeReferences): Omit<ResolvedConfig, 'config'> {
  return {
    secret: (reference) => {
      const value = secrets[reference];
      if (value === undefined) throw new Error(`the source has no secret '${reference}'`);
      return new Secret(value);
    },
    file: (reference) => Buffer.from(files[reference] ?? readFileSync(reference)),
    path: (reference) => paths[reference] ?? reference,
  };
}
