import assert from 'node:assert/strict';
import { importedModule } from '../../contract/import-rules.js';
import {
  CONTRACT_VERSION,
  type ImportedModule,
  isImporter,
  type LeftOut,
  type Manifest,
  type ManifestRoute,
  type ProviderAdapter,
  type ProviderRoute,
} from '../../contract/index.js';
import { readProblems } from '../../contract/read-problems.js';
import { assertValid } from '../assert-valid.js';
import type { Clause } from '../clause.js';
import { type ImporterHarness, MODULE } from '../importer-harness.js';
import { countHandles } from '../wait.js';

const NAME = /^(?!openapi$)[a-z][a-z0-9-]*$/;
const SHARED_SCHEMA = 'manifest:schemas/';
/** For people, on a terminal. */
const LINE = /^[^\p{Cc}]{1,1000}$/u;

const needsAdapter = ({ subject }: ImporterHarness) =>
  subject.adapter === undefined ? 'the kind is that of another plugin' : null;

export const IMPORTING: readonly Clause<ImporterHarness>[] = [
  {
    id: 'importer.declaration',
    title: 'is created by defineImporter, with a name that a command can have',
    run: async ({ subject: { importer } }) => {
      assert.ok(isImporter(importer), 'the importer must have the brand of defineImporter');
      assert.equal(importer.contract, CONTRACT_VERSION, `contract must be ${CONTRACT_VERSION}`);
      assert.match(importer.name, NAME, `name must match ${NAME}`);
    },
  },
  {
    id: 'importer.options',
    title: 'rejects unknown options',
    run: async ({ subject: { importer }, source: { options = {} } }) => {
      const withUnknown = { ...options, 'no-such-option': 'a' };
      const [error] = importer.options.validate(withUnknown, { coerce: true });
      assert.ok(error !== undefined, 'an unknown option must be rejected');
    },
  },
  {
    id: 'importer.result',
    title: 'returns a module with routes, whose parts have the types of the contract',
    run: async (harness) => {
      const module = await harness.read();
      assertValid('the module', module, importedModule);
      assert.ok(module.routes.length > 0, 'the module must have a route');
    },
  },
  {
    id: 'importer.routes',
    title: 'returns each pair of method and path once',
    run: async (harness) => {
      const { routes } = await harness.read();
      const names = routes.map(nameRoute);
      const repeated = names.filter((name, index) => names.indexOf(name) !== index);
      assert.deepEqual(repeated, [], 'no route may come twice');
    },
  },
  {
    id: 'importer.schemas',
    title: 'returns each schema that its routes and schemas refer to',
    run: async (harness) => {
      const { routes, schemas = {} } = await harness.read();
      const missing = listReferences([routes, schemas]).filter(
        (name) => !Object.hasOwn(schemas, name),
      );
      assert.deepEqual(missing, [], 'no schema may be missing');
    },
  },
  {
    id: 'importer.provider',
    title: 'returns a config that the adapter of its kind accepts, and replaces members of it',
    run: async (harness) => {
      const { provider, replaces = [] } = await harness.read();
      const unknown = replaces.filter((name) => !Object.hasOwn(provider.config, name));
      assert.deepEqual(unknown, [], 'replaces must name members of the config');
      const { adapter } = harness.subject;
      if (adapter === undefined) return;
      assert.equal(provider.kind, adapter.kind, 'the kind must be that of the adapter');
      assertValid('the config', provider.config, adapter.config);
    },
  },
  {
    id: 'importer.operations',
    title: 'returns operations that the adapter of its kind accepts',
    skip: needsAdapter,
    run: async (harness) => {
      const { routes } = await harness.read();
      const adapter = harness.subject.adapter as ProviderAdapter;
      for (const route of routes) {
        const [error] = validateOperation(adapter, route);
        const expected = `operation.${adapter.kind} of ${nameRoute(route)} must be valid`;
        assert.equal(error?.message, undefined, expected);
      }
    },
  },
  {
    id: 'importer.manifest',
    title: 'returns a manifest in which the adapter of its kind finds no problem',
    skip: needsAdapter,
    run: async (harness) => {
      const module = await harness.read();
      const adapter = harness.subject.adapter as ProviderAdapter;
      const routes = module.routes.map((declared): ProviderRoute => {
        const [, options] = validateOperation(adapter, declared);
        return { declared, ...(options !== undefined && { options }) };
      });
      const problems = readProblems(adapter.checkManifest?.(toManifest(module), routes) ?? []);
      const lines = problems.map(({ path, message }) => `${path.join('.')} ${message}`);
      assert.deepEqual(lines, [], 'there must be no problem');
    },
  },
  {
    id: 'importer.again',
    title: 'returns the same for the same source',
    run: async (harness) => {
      const first = await harness.read();
      const again = await harness.read();
      assert.deepEqual(again, first, 'a second read must return the same');
      assert.equal(JSON.stringify(again), JSON.stringify(first), 'in the same order');
    },
  },
  {
    id: 'importer.left-out',
    title: 'names each part of the source that it leaves out, and why',
    skip: ({ source: { leftOut = [] } }) =>
      leftOut.length === 0 ? 'the importer leaves out nothing of this source' : null,
    run: async (harness) => {
      const { leftOut = [] } = await harness.read();
      const hasPlace = (text: string) => (part: LeftOut) => part.place.includes(text);
      const missing = harness.source.leftOut?.filter((text) => !leftOut.some(hasPlace(text)));
      assert.deepEqual(missing, [], 'each part must be named');
      for (const { place, reason } of leftOut) {
        assert.match(reason, LINE, `the reason of '${place}' must be one line`);
      }
    },
  },
  {
    id: 'importer.unusable',
    title: 'says in one line why a source cannot be used',
    skip: ({ source: { unusable = {} } }) =>
      Object.keys(unusable).length === 0 ? 'the subject has no such source' : null,
    run: async (harness) => {
      for (const [what, words] of Object.entries(harness.source.unusable ?? {})) {
        const { message } = await harness.failureOf(what, words);
        assert.match(message, LINE, `the message for ${what} must be one line`);
        assert.ok(!/^\s*at .+:\d+:\d+/m.test(message), `the message for ${what} has a stack`);
      }
    },
  },
  {
    id: 'importer.signal',
    title: 'ends a read whose signal is aborted',
    skip: ({ source: { silent = [] } }) =>
      silent.length === 0 ? 'the subject has no source that is silent' : null,
    run: async (harness) => {
      for (const { source, isWaiting } of harness.source.silent ?? []) {
        const controller = new AbortController();
        const reading = harness.failureOf('an aborted read', source, controller.signal);
        const early = reading.then(() => true);
        await harness.wait.eventually('a request to the silent source', async () => {
          const hasFailed = await Promise.race([early, Promise.resolve(false)]);
          assert.ok(!hasFailed, 'the read must wait for the silent source');
          return isWaiting();
        });
        controller.abort(new Error('the import takes too long'));
        await reading;
      }
    },
  },
  {
    id: 'importer.no-secrets',
    title: 'reveals no secret in what it returns, logs and throws',
    skip: ({ source: { references = {} } }) =>
      Object.keys(references.secrets ?? {}).length === 0 ? 'the subject has no secrets' : null,
    run: async (harness) => {
      const { files = {}, ...described } = await harness.read();
      const contents = Object.values(files).map((bytes) => Buffer.from(bytes).toString());
      const texts = [JSON.stringify(described), ...contents];
      for (const [what, words] of Object.entries(harness.source.unusable ?? {})) {
        texts.push((await harness.failureOf(what, words)).message);
      }
      texts.push(...harness.log.lines.map((line) => JSON.stringify(line)));
      for (const secret of Object.values(harness.source.references?.secrets ?? {})) {
        const forms = [secret, JSON.stringify(secret).slice(1, -1)];
        const isRevealed = texts.some((text) => forms.some((form) => text.includes(form)));
        assert.ok(!isRevealed, 'a secret is revealed');
      }
    },
  },
  {
    id: 'importer.handles',
    title: 'keeps no process, socket or other handle after its scope is closed',
    run: async (harness) => {
      await harness.read();
      await harness.wait.eventually(
        `a return to ${harness.handlesBefore} active handles`,
        () => countHandles() <= harness.handlesBefore,
      );
    },
  },
];

const nameRoute = ({ method, path }: ManifestRoute) => `${method} ${path}`;

function validateOperation({ kind, operation: struct }: ProviderAdapter, route: ManifestRoute) {
  const value: unknown = Reflect.get(route.operation ?? {}, kind);
  if (struct !== undefined) return struct.validate(value, { coerce: true });
  const message = value === undefined ? undefined : `kind ${kind} has no such member`;
  return message === undefined ? [undefined, undefined] : ([{ message }, undefined] as const);
}

/** The manifest as the host completes it. */
function toManifest({ routes, schemas }: ImportedModule): Manifest {
  const capability = `${MODULE}.use`;
  const http_routes = routes.map((route) => ({
    ...route,
    capability: route.capability ?? capability,
  }));
  return {
    protocol: 'modgate.manifest.v1',
    module_id: MODULE,
    capabilities: [...new Set(http_routes.map((route) => route.capability))],
    http_routes,
    ...(schemas !== undefined && { schemas }),
  };
}

/** The names of shared schemas to which a value refers at any depth. */
function listReferences(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (name !== '$ref' || typeof member !== 'string') return listReferences(member);
    const [shared = ''] = member.split('#');
    return shared.startsWith(SHARED_SCHEMA) ? [shared.slice(SHARED_SCHEMA.length)] : [];
  });
}
