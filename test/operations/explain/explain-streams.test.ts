import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { useStreams } from '../../support/http/use-streams.js';
import { expectValidDocument } from '../../support/openapi/validate-document.js';

describe('explain of streams of events', () => {
  const setup = useStreams();
  const explain = async (method: string, module: string, path: string) => {
    const target = encodeURIComponent(`/modules/${module}/http${path}`);
    const response = await call(setup.host, {
      method: 'GET',
      target: `/explain?method=${method}&target=${target}`,
    });
    const explained = parseJson(response);
    const checks = explained['checks'] as { check: string; outcome: string; detail: string }[];
    const headers = explained['headers'] as { name: string; from: string }[];
    return {
      ...explained,
      accept: checks.find(({ check }) => check === 'accept'),
      names: headers.filter(({ from }) => from === 'caller').map(({ name }) => name),
    } as Record<string, unknown>;
  };

  it('reports the required accept, in envelope mode alone', async () => {
    const events = await explain('GET', 'events', '/events/1');
    expect(events['accept']).to.deep.include({
      outcome: 'unknown',
      detail: 'the route streams events: without accept: text/event-stream it is 406',
    });
    expect(events['route']).to.include({ stream: 'sse' });
    expect(events['names']).to.include.members(['accept', 'last-event-id']);
    const raw = await explain('GET', 'raw', '/events/1');
    expect(raw['accept']).to.equal(undefined);
    expect(raw['route']).to.include({ stream: 'sse' });
    const items = await explain('GET', 'events', '/items');
    expect(items['accept']).to.equal(undefined);
    expect(items['route']).not.to.have.property('stream');
  });

  it('predicts the 404 of HEAD', async () => {
    const head = await explain('HEAD', 'events', '/events/1');
    expect(head['verdict']).to.include({ status: 404 });
  });

  it('is matched by the API description, which marks them', async () => {
    const response = await call(setup.host, { method: 'GET', target: '/openapi.json' });
    const document = parseJson(response);
    await expectValidDocument(response.body.toString());
    const paths = document['paths'] as Record<
      string,
      Record<string, { responses: Record<string, Record<string, unknown>> }>
    >;
    const of = (module: string, path: string) =>
      paths[`/modules/${module}/http${path}`]?.['get']?.responses ?? {};
    const lines = of('events', '/watch');
    expect(lines['200']).to.deep.include({
      content: { 'application/x-ndjson': {} },
      'x-modgate-stream': 'ndjson',
    });
    expect(Object.keys(lines)).to.include.members(['406', '426', '429', '502']);
    expect(of('raw', '/lines')['200']).to.deep.include({ 'x-modgate-stream': 'ndjson' });
    expect(Object.keys(of('raw', '/lines')['200']?.['content'] ?? {})).to.include.members([
      'application/x-ndjson',
      'application/json',
    ]);
  });
});
