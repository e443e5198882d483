import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { readCorpus } from '../../support/http/corpus.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

interface Rejected {
  readonly title: string;
  readonly target: string;
  /** Default 404; 400 too if the parser may reject it. */
  readonly status?: readonly number[];
}

interface Forwarded extends Rejected {
  readonly rest: string;
}

const PREFIX = '/modules/wide/http';
// 63 characters: the longest part of a name.
const LONG = `a${'b'.repeat(62)}`;
const SENT_AS: readonly (readonly [name: string, segment: string])[] = [
  ['acme/crm', 'acme%2Fcrm'],
  ['acme/crm', 'acme%2fcrm'],
  ['acme/crm', '%61cme%2Fcrm'],
  ['wide', 'wide'],
  ['wide', '%77ide'],
  ['a.b_c-d', 'a.b_c-d'],
  ['a.b_c-d', 'a%2Eb%5fc%2Dd'],
  [LONG, LONG],
  ['0', '0'],
];

describe('paths of forwarded routes', () => {
  const setup = useHost((provider) => ({
    'wide.json': describeWideModule('wide', provider.url),
    'acme.json': describeWideModule('acme/crm', provider.url),
    'marks.json': describeWideModule('a.b_c-d', provider.url),
    'long.json': describeWideModule(LONG, provider.url),
    'digit.json': describeWideModule('0', provider.url),
  }));

  for (const { title, target, status = [404] } of readCorpus<Rejected[]>('targets-refused')) {
    it(`answers ${status.join(' or ')} to ${title}: ${JSON.stringify(target)}`, async () => {
      const response = await call(setup.host, { target });
      expect(response.status).to.be.oneOf(status);
      expectProblem(response, response.status);
      expect(setup.provider.requests, 'calls of the provider').to.have.length(0);
    });
  }

  it('names the segment of a path that can match no route, whether or not the module exists', async () => {
    const reason = 'segment 2 contains an encoded slash or backslash';
    for (const module of ['wide', 'nowhere']) {
      const target = `/modules/${module}/http/a/b%2Fc`;
      const { errors } = expectProblem(await call(setup.host, { target }), 404);
      expect(errors).to.deep.equal([{ field: 'path', reason }]);
    }
    const target = '/modules/nowhere/http/a';
    expect(expectProblem(await call(setup.host, { target }), 404).errors).to.deep.equal([]);
  });

  it('answers 404 to a bad path by any method', async () => {
    const request = { target: `${PREFIX}/a/%2e%2e/b`, headers: [JSON_TYPE] };
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const body = method === 'DELETE' ? {} : { body: Buffer.from('{}') };
      expectProblem(await call(setup.host, { ...request, ...body, method }), 404);
    }
  });

  for (const { title, target, rest } of readCorpus<Forwarded[]>('targets-forwarded')) {
    it(`forwards ${title}, unchanged: ${JSON.stringify(target)}`, async () => {
      const response = await call(setup.host, { target: PREFIX + target });
      expect(response.status, response.body.toString()).to.equal(200);
      expect(setup.provider.only().target).to.equal(target);
      const body = parseJson(response);
      expect(body['path_params']).to.deep.equal({ rest });
      expect(body['provider_path']).to.equal(`/${rest}`);
      expect(body['declared_path']).to.equal('/{rest...}');
    });
  }

  for (const { title, target } of readCorpus<Rejected[]>('targets-either')) {
    it(`never rewrites ${title}`, async () => {
      const response = await call(setup.host, { target: PREFIX + target });
      if (response.status !== 200) {
        expect(response.status).to.be.oneOf([400, 404]);
        expectProblem(response, response.status);
        return;
      }
      expect(setup.provider.only().target).to.equal(target);
    });
  }

  for (const [name, segment] of SENT_AS) {
    it(`finds the module ${name} as ${segment}`, async () => {
      const response = await call(setup.host, { target: `/modules/${segment}/http/a` });
      expect(response.status, response.body.toString()).to.equal(200);
      expect(parseJson(response)['module_name']).to.equal(name);
    });
  }

  it('checks a long target up to its last segment', async () => {
    // 10,000 bytes are within the 16 KiB that the parser accepts.
    const path = `/${'a'.repeat(39)}`.repeat(250);
    expect((await call(setup.host, { target: PREFIX + path })).status).to.equal(200);
    expect(setup.provider.only().target).to.equal(path);
    for (const end of ['/', '//', '/%2e', '/%ff']) {
      expectProblem(await call(setup.host, { target: PREFIX + path + end }), 404);
    }
  });
});
