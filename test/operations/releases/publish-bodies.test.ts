import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { digestRelease, encodeFiles } from '../../../core/modules/releases/release-files.js';
import { readPublish } from '../../../core/operations/releases/read-publish.js';
import { call, parseJson } from '../../support/http/call.js';
import { expectProblem, type Problem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';
import { CODE_PUBLISHER, PUBLISHER, readReleases, sendJson } from '../../support/releases.js';
import { withoutThreads } from '../../support/without-threads.js';

const nameFiles = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`d/${index}`, '']));

const reasonOf = ({ errors }: Problem) => errors[0]?.reason ?? '';

describe('the body of a release', () => {
  const setup = useHost(() => ({}), { args: ['--modules', 'store:'] });
  const send = (value: unknown) => sendJson(setup.host, '/releases', value, CODE_PUBLISHER);

  it('is 503 while the system has no thread to read it', async () => {
    await withoutThreads(async () => {
      expectProblem(await send({ files: {}, base: 'x' }), 503, 'unavailable');
    });
    expectProblem(await send({ files: {}, base: 'x' }), 400);
  });

  for (const [title, body, reason] of [
    ['more than 10,000 files', { files: nameFiles(10_008), base: null }, /more than 10000/],
    ['10,001 files', { files: nameFiles(10_001), base: null }, /more than 10000 files/],
    ['a third level', { files: { a: [{}] }, base: null }, /more than 2 levels/],
    ['a file that is not base64', { files: { a: '!' }, base: null }, /not base64/],
    ['a path that leaves the folder', { files: { '../a': '' }, base: null }, /dot/],
    ['an unknown member', { files: {}, base: null, force: true }, /unknown|force/],
    ['a list', [], /object|mapping/],
  ] as const) {
    it(`is rejected with ${title}`, async () => {
      const problem = expectProblem(await send(body), 400);
      expect(reasonOf(problem)).to.match(reason);
    });
  }

  it('comes back byte for byte, in its order', async () => {
    const contents = [randomBytes(100_000), Buffer.alloc(0), randomBytes(1)];
    const files = Object.fromEntries(
      contents.map((bytes, index) => [`d/\u00e4-${index}.bin`, bytes.toString('base64')]),
    );
    const { active } = await readReleases(setup.host);
    const published = await send({ files, base: active });
    expect(published.status, published.body.toString()).to.equal(200);
    const { release } = parseJson(published) as { release: string };
    const shown = parseJson(await call(setup.host, { target: `/releases/${release}` }));
    expect(shown['content']).to.deep.equal(files);
  });

  it('is answered beside others, each with its own result', async () => {
    const { active } = await readReleases(setup.host);
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        send(index % 2 === 0 ? { files: { a: '!' }, base: active } : { files: {}, base: 'x' }),
      ),
    );
    const reasons = answers.map((answer) => reasonOf(expectProblem(answer, 400)));
    expect(reasons.filter((reason) => /not base64/.test(reason))).to.have.length(3);
    expect(reasons.filter((reason) => /digest/.test(reason))).to.have.length(3);
  });

  for (const target of ['/rollback', '/approvals/any']) {
    it(`has at most 4 KiB at ${target}`, async () => {
      const as = target === '/rollback' ? PUBLISHER : 'dev-user:ann:modgate.approvals';
      const problem = expectProblem(
        await sendJson(setup.host, target, { release: 'a'.repeat(4096) }, as),
        400,
      );
      expect(problem.detail).to.include('longer than 4096 bytes');
    });
  }

  it('is read as it was written', () => {
    const segment = fc.stringMatching(/^[a-z0-9]{1,8}$/);
    const contents = fc.dictionary(segment, fc.uint8Array({ maxLength: 64 }), { maxKeys: 20 });
    fc.assert(
      fc.property(contents, fc.string({ maxLength: 20 }), (written, note) => {
        const files = new Map(
          Object.entries(written).map(([path, bytes]) => [path, Buffer.from(bytes)]),
        );
        const encoded = Object.fromEntries(
          [...files].map(([path, bytes]) => [path, bytes.toString('base64')]),
        );
        const body = Buffer.from(JSON.stringify({ files: encoded, base: null, note }));
        const read = readPublish(body, '1.2.3');
        expect([...read.files]).to.deep.equal([...files]);
        expect(read.parts).to.deep.equal(encodeFiles(files));
        expect(read.id).to.equal(digestRelease(files, { base: null, leastVersion: '1.2.3' }));
        expect(read.note).to.equal(note);
      }),
    );
  });
});
