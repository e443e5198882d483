import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { joinBody, ProviderFailure, type ProviderOperation } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { localAdapter } from '../../../plugins/local/local-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { createInvocation, type OpenedProvider, openAdapter } from '../open-adapter.js';

const FILE = './notes.mjs';
const NEVER = new AbortController().signal;

for (const isolation of ['worker', 'none'] as const) {
  describe(`local adapter, isolation ${isolation}`, () => {
    let folder: string;
    let endlessRefusal: Promise<string>;
    const opened: OpenedProvider[] = [];

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'modgate-local-'));
      // Takes 5 s, in which the other tests run.
      endlessRefusal = refusalOf(
        'await new Promise(() => {}); export default () => {};',
        'endless.mjs',
      );
      endlessRefusal.catch(() => {});
    });

    after(() => rm(folder, { recursive: true }));

    afterEach(async () => {
      for (const openedProvider of opened.splice(0)) await openedProvider.close();
      await rm(join(folder, 'state'), { recursive: true, force: true });
    });

    const open = async (source: string, name = 'notes.mjs') => {
      const path = join(folder, name);
      await writeFile(path, source);
      const options = {
        files: { [FILE]: source },
        paths: { [FILE]: path },
        stateDir: join(folder, 'state', 'crm'),
      };
      const running = await openAdapter(localAdapter, { file: FILE, isolation }, options);
      opened.push(running);
      return running;
    };

    const refusalOf = async (source: string, name?: string): Promise<string> => {
      const error = await open(source, name).then(
        () => expect.fail('expected the file to be refused'),
        (reason: Error) => reason,
      );
      return error.message;
    };

    const answerOf = async (
      handler: string,
      operation: Partial<ProviderOperation> = {},
      others: object = {},
    ) => {
      const { provider } = await open(`export default ${handler};`);
      return provider.invoke(createInvocation(operation as ProviderOperation, others));
    };

    const echoOf = async (
      handler: string,
      operation: Partial<ProviderOperation> = {},
      others = {},
    ) => JSON.parse(textOf(await answerOf(handler, operation, others)));

    it('passes the route to the handler', async () => {
      const handler = `(operation) => ({ status: 200, body: {
      ...operation, query: [...operation.query], rawBody: Buffer.from(operation.rawBody).toString() } })`;
      const received = await echoOf(
        handler,
        {
          kind: 'http_route',
          method: 'POST',
          declaredPath: '/contacts/{id}',
          target: '/contacts/a%20b?x=1&x=%C3%A9&y',
          providerPath: '/contacts/a b',
          pathParams: { id: 'a b' },
          body: Buffer.from('{"n": 1.10}'),
        },
        { headers: { 'x-tenant': 'a' } },
      );
      expect(received).to.deep.equal({
        kind: 'http_route',
        method: 'POST',
        declaredPath: '/contacts/{id}',
        providerPath: '/contacts/a b',
        pathParams: { id: 'a b' },
        query: [
          ['x', '1'],
          ['x', '\u00e9'],
          ['y', ''],
        ],
        headers: { 'x-tenant': 'a' },
        body: { n: 1.1 },
        rawBody: '{"n": 1.10}',
      });
    });

    it('sends no body when there is none', async () => {
      const handler =
        '({ body, rawBody, query }) => ({ status: 200, body: [typeof body, rawBody, query.size] })';
      expect(await echoOf(handler)).to.deep.equal(['undefined', null, 0]);
    });

    it('passes the context of the call', async () => {
      const handler = `({}, { actor, signal, log, stateDir, ...context }) => {
      log.info({}, 'called');
      return { status: 200, body: { ...context, actor: actor.id, aborted: signal.aborted } };
    }`;
      expect(await echoOf(handler)).to.deep.equal({
        module: 'crm',
        actor: 'billing',
        requestId: 'req_1',
        correlationId: 'corr_1',
        callId: 'call_1',
        aborted: false,
      });
      expect(opened[0]?.log).to.deep.equal([{ level: 'info', message: 'called' }]);
    });

    it('creates the state folder at the first access', async () => {
      await answerOf('() => ({ status: 204 })');
      expect(existsSync(join(folder, 'state'))).to.equal(false);
      await answerOf(`async ({}, { stateDir }) => {
      const { writeFile } = await import('node:fs/promises');
      await writeFile(stateDir + '/note', 'kept');
      return { status: 204 };
    }`);
      expect(await readFile(join(folder, 'state', 'crm', 'note'), 'utf8')).to.equal('kept');
    });

    it('passes admin operations unchanged', async () => {
      const list = {
        kind: 'admin_list',
        entity: 'notes',
        path: null,
        limit: 5,
        cursor: 'c',
      } as const;
      const inputJson = Buffer.from('{"a":[1]}');
      const action = {
        kind: 'admin_action',
        action: 'sync',
        path: null,
        input: { a: [1] },
        inputJson,
      } as const;
      const handler = '(operation) => ({ status: 200, body: operation })';
      expect(await echoOf(handler, list)).to.deep.equal(list);
      expect(await echoOf(handler, action)).to.deep.equal({
        ...action,
        inputJson: inputJson.toJSON(),
      });
    });

    const BODIES: Readonly<Record<string, [body: string, bytes: string | null]>> = {
      object: ['{ a: 1 }', '{"a":1}'],
      'object of a class': ['new (class { a = 1 })()', '{"a":1}'],
      'empty object of a class': ['new (class {})()', '{}'],
      date: ['new Date(0)', '"1970-01-01T00:00:00.000Z"'],
      null: ['null', 'null'],
      false: ['false', 'false'],
      'empty string': ['""', '""'],
      array: ['[1, "\u00e9"]', '[1,"\u00e9"]'],
      undefined: ['undefined', null],
    };
    for (const [title, [body, bytes]] of Object.entries(BODIES)) {
      it(`encodes a body: ${title}`, async () => {
        const outcome = await answerOf(`async () => ({ status: 200, body: ${body} })`);
        const type = bytes === null ? {} : { 'content-type': 'application/json' };
        expect(outcome.headers).to.deep.equal(type);
        expect(outcome.body && textOf(outcome)).to.equal(bytes);
      });
    }

    it('returns bytes unchanged, without adding a content type', async () => {
      const outcome = await answerOf('() => ({ status: 201, body: new Uint8Array([1, 2]) })');
      expect(outcome.headers).to.deep.equal({});
      expect(outcome.body).to.deep.equal(new Uint8Array([1, 2]));
    });

    it('lower-cases header names and keeps the content type', async () => {
      const headers = `{ 'Content-Type': 'application/hal+json', ETag: '"1"' }`;
      const outcome = await answerOf(`() => ({ status: 200, headers: ${headers}, body: {} })`);
      expect(outcome.headers).to.deep.equal({
        'content-type': 'application/hal+json',
        etag: '"1"',
      });
    });

    const MALFORMED: Readonly<Record<string, string>> = {
      nothing: 'undefined',
      'no status': '{ body: {} }',
      'a status that is text': '{ status: "200" }',
      'a status below 100': '{ status: 99 }',
      'a status above 599': '{ status: 600 }',
      'a header that is a number': '{ status: 200, headers: { a: 1 } }',
      'headers that are text': '{ status: 200, headers: "a" }',
      'headers in a Map': '{ status: 200, headers: new Map([["a", "b"]]) }',
      'headers in a Headers': '{ status: 200, headers: new Headers({ a: "b" }) }',
      'headers in an array': '{ status: 200, headers: ["a: b"] }',
      'a header twice': '{ status: 200, headers: { ETag: "a", etag: "b" } }',
      'a cycle': '(() => { const body = {}; body.body = body; return { status: 200, body } })()',
      'a Map': '{ status: 200, body: new Map([["a", 1]]) }',
      'a Set': '{ status: 200, body: new Set([1]) }',
      'a promise': '{ status: 200, body: Promise.resolve(1) }',
      'an error': '{ status: 200, body: new Error("mine") }',
      'a stream': '{ status: 200, body: new Blob(["a"]).stream() }',
      'an ArrayBuffer': '{ status: 200, body: new ArrayBuffer(2) }',
      'an array of 16-bit numbers': '{ status: 200, body: new Uint16Array(2) }',
      'a big integer': '{ status: 200, body: 1n }',
      'a function': '{ status: 200, body: () => {} }',
      'too many bytes': '{ status: 200, body: "x".repeat(100) }',
    };
    for (const [title, answer] of Object.entries(MALFORMED)) {
      it(`fails as protocol for a response with ${title}`, async () => {
        const call = answerOf(`() => (${answer})`, {}, { maxResponseBytes: 50 });
        const failure = await failureOf(call);
        expect(failure.failure).to.equal('protocol');
        expect(failure.message).to.match(/^the handler's response must /);
      });
    }

    it('fails as protocol, with the cause for the log, when the handler throws', async () => {
      for (const code of ['() => { throw new Error("mine") }', 'async () => { throw "mine" }']) {
        const failure = await failureOf(answerOf(code));
        expect(failure.failure).to.equal('protocol');
        expect(failure.message).to.equal('the handler threw');
        expect(String(failure.cause)).to.include('mine');
      }
    });

    it('does not wait for a handler that ignores the signal', async () => {
      const { provider } = await open('export default () => new Promise(() => {});');
      const reason = new ProviderFailure('timeout', 'over');
      const controller = new AbortController();
      const call = provider.invoke(createInvocation({}, { signal: controller.signal }));
      controller.abort(reason);
      expect(await failureOf(call)).to.equal(reason);
      const signal = AbortSignal.timeout(20);
      const late = failureOf(provider.invoke(createInvocation({}, { signal })));
      expect((await late).failure).to.equal('timeout');
    });

    it('leaves no unhandled rejection when the handler fails later', async () => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      const { provider } = await open(
        'export default (_, { signal }) => new Promise((_, reject) => { signal.onabort = () => setImmediate(reject, new Error("late")) });',
      );
      const controller = new AbortController();
      const call = provider.invoke(createInvocation({}, { signal: controller.signal }));
      controller.abort();
      expect((await failureOf(call)).failure).to.equal('cancelled');
      for (let turn = 0; turn < 5; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      process.off('unhandledRejection', note);
      expect(unhandled).to.deep.equal([]);
      // Nor in the thread, where one would be its end.
      const next = new AbortController();
      const again = provider.invoke(createInvocation({}, { signal: next.signal }));
      next.abort();
      expect((await failureOf(again)).failure).to.equal('cancelled');
      expect(opened[0]?.log).to.deep.equal([]);
    });

    it('does not call the handler for an aborted call', async () => {
      const { provider } = await open(`export default () => { throw new Error('called') };`);
      const call = provider.invoke(createInvocation({}, { signal: AbortSignal.abort() }));
      expect((await failureOf(call)).failure).to.equal('cancelled');
    });

    it('returns the exported manifest as JSON', async () => {
      const source = `export default () => {};
      export const manifest = { module_id: 'notes', at: new Date(0), gone: undefined };`;
      const { provider } = await open(source);
      const manifest = await provider.manifest(NEVER);
      expect(JSON.parse(Buffer.from(manifest).toString())).to.deep.equal({
        module_id: 'notes',
        at: '1970-01-01T00:00:00.000Z',
      });
      await provider.check(NEVER);
    });

    it('fails as protocol without an exported manifest', async () => {
      const { provider } = await open('export default () => {};');
      expect((await failureOf(provider.manifest(NEVER))).failure).to.equal('protocol');
    });

    it('delivers the configuration, and succeeds without configure', async () => {
      const source = `let seen; export default () => ({ status: 200, body: seen });
      export const configure = async (given) => { if (given.revision === 1) throw new Error('not now'); seen = given; };`;
      const { provider } = await open(source);
      const deliver = (revision: number) =>
        provider.invoke(
          createInvocation({ kind: 'configure', path: null, revision, values: { 'crm/a': 1 } }),
        );
      expect((await failureOf(deliver(1))).failure).to.equal('protocol');
      expect(await deliver(2)).to.deep.equal({ status: 204, headers: {}, body: null });
      const { body } = await provider.invoke(createInvocation());
      expect(`${Buffer.from(joinBody(body))}`).to.equal('{"revision":2,"values":{"crm/a":1}}');
      const deaf = await open('export default () => {};');
      const operation = { kind: 'configure', path: null, revision: 0, values: {} } as const;
      const outcome = await deaf.provider.invoke(createInvocation(operation));
      expect(outcome.status).to.equal(204);
    });

    it('runs changed code after a reload, with new variables for each open', async () => {
      const counting = (step: number) =>
        `let count = 0; export default () => ({ status: 200, body: count += ${step} });`;
      const countOf = async ({ provider }: OpenedProvider) =>
        textOf(await provider.invoke(createInvocation()));
      const first = await open(counting(1));
      expect([await countOf(first), await countOf(first)]).to.deep.equal(['1', '2']);
      const again = await open(counting(1));
      const changed = await open(counting(10));
      expect([await countOf(again), await countOf(changed)]).to.deep.equal(['1', '10']);
      expect(await countOf(first)).to.equal('3');
    });

    it('closes the module with its scope', async () => {
      const source = `import { writeFileSync } from 'node:fs';
      export default () => {}; export const close = () => writeFileSync(${JSON.stringify(join('FOLDER', 'closed'))}, '');`;
      const running = await open(source.replace('FOLDER', folder));
      expect(existsSync(join(folder, 'closed'))).to.equal(false);
      await running.close();
      expect(existsSync(join(folder, 'closed'))).to.equal(true);
    });

    it('rejects an unusable file, with its name in the config', async () => {
      expect(await refusalOf('export default {')).to.match(
        /^file '\.\/notes\.mjs' cannot be imported: /,
      );
      expect(await refusalOf(`throw new Error('no database');`)).to.equal(
        "file './notes.mjs' cannot be imported: no database (notes.mjs:1:7)",
      );
      expect(await refusalOf('export default () => {};\n\nconst a = ;')).to.equal(
        "file './notes.mjs' cannot be imported: Unexpected token ';' (notes.mjs:3)",
      );
      await writeFile(join(folder, 'part.mjs'), '\nthrow new Error("no part");');
      expect(await refusalOf(`import './part.mjs';`)).to.equal(
        "file './notes.mjs' cannot be imported: no part (part.mjs:2:7)",
      );
      expect(await refusalOf('export const manifest = {};')).to.equal(
        "file './notes.mjs' must export a function as its default",
      );
      // What Node.js imports of CommonJS with `exports.default`.
      expect(await refusalOf('export default { default: () => null };')).to.equal(
        "file './notes.mjs' must export a function as its default: it is CommonJS; compile it to an ES module (.mjs)",
      );
      expect(await refusalOf('export default () => {}; export const configure = 1;')).to.equal(
        "file './notes.mjs' must export 'configure' as a function",
      );
    });

    it('rejects a file whose top level never ends', async () => {
      expect(await endlessRefusal).to.equal(
        "file './notes.mjs' cannot be imported: its top level did not end within 5000 ms",
      );
    });
  });
}
