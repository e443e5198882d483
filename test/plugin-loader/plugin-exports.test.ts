import { expect } from 'chai';
import { PluginError, type PluginStage } from '../../core/plugin-loader/plugin-error.js';

import { CONTRACT, entryOf, readEcho, rejectionOf } from './echo-plugin.js';

describe('exports of a plugin', () => {
  const BAD_EXPORTS: Readonly<Record<string, [entry: string, stage: PluginStage, reason: string]>> =
    {
      'no default': ['export const a = 1;', 'export', 'has no default export'],
      'a default without adapters': [
        'export default {};',
        'export',
        "has a default export without 'adapters'",
      ],
      'a default of null': [
        'export default null;',
        'export',
        "has a default export without 'adapters'",
      ],
      'an adapter that is not branded': [
        `export default { adapters: [{ kind: 'echo', contract: 1 }] };`,
        'export',
        'exports an adapter that is not branded',
      ],
      'an adapter for another contract': [
        `export default { adapters: [{ kind: 'echo', contract: 2, [Symbol.for('modgate.adapter')]: true }] };`,
        'contract',
        'exports an adapter for another contract, this host has 1',
      ],
      'an adapter that cannot open': [
        `export default { adapters: [{ kind: 'echo', contract: 1, [Symbol.for('modgate.adapter')]: true }] };`,
        'export',
        "exports the adapter 'echo' without 'open': it must be a function",
      ],
      'another kind': [
        entryOf('ecco'),
        'kinds',
        "has no adapter for the kind 'echo' of its plugin.json",
      ],
    };
  for (const [title, [entry, stage, reason]] of Object.entries(BAD_EXPORTS)) {
    it(`rejects an entry with ${title}`, async () => {
      const error = await rejectionOf(await readEcho({}, entry));
      expect([error.stage, error.reason]).to.deep.equal([stage, `plugin 'echo' ${reason}`]);
    });
  }

  const WRONG_MEMBERS: Readonly<Record<string, [member: string, problem: string]>> = {
    'no features': [
      'supports: undefined',
      "the adapter 'echo' without 'supports': it must be an object whose members are true or false, such as {}",
    ],
    'a list of features': [
      "supports: ['streams']",
      "the adapter 'echo' with a wrong 'supports': it must be an object whose members are true or false, such as {}",
    ],
    'a feature that is a text': [
      "supports: { streams: 'yes' }",
      "the adapter 'echo' with a wrong 'supports': it must be an object whose members are true or false, such as {}",
    ],
    'no open': ['open: undefined', "the adapter 'echo' without 'open': it must be a function"],
    'no config': ['config: undefined', "the adapter 'echo' without 'config': it must be a struct"],
    'a config that is a schema': [
      "config: { type: 'object' }",
      "the adapter 'echo' with a wrong 'config': it must be a struct",
    ],
    'no kind': ['kind: undefined', "an adapter without 'kind': it must be a text"],
    'a kind that is a list': [
      "kind: ['echo']",
      "an adapter with a wrong 'kind': it must be a text",
    ],
    'an operation that is a schema': [
      "operation: { type: 'object' }",
      "the adapter 'echo' with a wrong 'operation': it must be a struct, or absent",
    ],
    'a description of configs that is a value': [
      'describeConfig: { hostUses: [] }',
      "the adapter 'echo' with a wrong 'describeConfig': it must be a function, or absent",
    ],
    'a check of manifests that is a list': [
      'checkManifest: []',
      "the adapter 'echo' with a wrong 'checkManifest': it must be a function, or absent",
    ],
    'a check of routes that is a list': [
      'checkRoutes: []',
      "the adapter 'echo' with a wrong 'checkRoutes': it must be a function, or absent",
    ],
  };
  for (const [title, [member, problem]] of Object.entries(WRONG_MEMBERS)) {
    it(`names an adapter with ${title}, and the member`, async () => {
      const entry = `import { defineAdapter } from ${JSON.stringify(CONTRACT)};
        const config = { validate: (value) => [undefined, value] };
        const good = { kind: 'echo', config, supports: {}, open: () => ({}) };
        export default { adapters: [defineAdapter({ ...good, ${member} })] };`;
      const error = await rejectionOf(await readEcho({}, entry));
      expect([error.stage, error.reason]).to.deep.equal([
        'export',
        `plugin 'echo' exports ${problem}`,
      ]);
    });
  }

  const OTHER_EXPORTS: readonly (readonly [list: string, define: string, problem: string])[] = [
    ['signers', 'defineSigner', "the signer 'echo' without 'open': it must be a function"],
    ['surfaces', 'defineSurface', "the surface 'echo' without 'open': it must be a function"],
    ['importers', 'defineImporter', "the importer 'echo' without 'read': it must be a function"],
    [
      'authenticators',
      'defineAuthenticator',
      "the authenticator 'echo' without 'open': it must be a function",
    ],
  ];
  for (const [list, define, problem] of OTHER_EXPORTS) {
    it(`names one of ${list} without its function`, async () => {
      const entry = `import { ${define} } from ${JSON.stringify(CONTRACT)};
        const struct = { validate: (value) => [undefined, value] };
        export default { ${list}: [${define}({ name: 'echo', config: struct, options: struct })] };`;
      const declared = list === 'importers' ? [{ name: 'echo', source: 'a file' }] : ['echo'];
      const registry = await readEcho({ kinds: undefined, [list]: declared }, entry);
      const find = {
        signers: () => registry.signer('echo'),
        surfaces: () => registry.surface('echo'),
        importers: () => registry.importer('echo'),
        authenticators: () => registry.authenticator('echo'),
      }[list];
      const error = await find?.().catch((reason: unknown) => reason);
      expect(error).to.be.an.instanceof(PluginError);
      expect((error as PluginError).reason).to.equal(`plugin 'echo' exports ${problem}`);
    });
  }
});
