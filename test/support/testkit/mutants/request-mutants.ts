import { changeRequest, changeTarget, type Mutant, UTF8 } from './mutant.js';

export const REQUEST_MUTANTS: readonly Mutant[] = [
  {
    clause: 'request.method',
    defect: 'sends PATCH as POST',
    reason: /'POST'|POST/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'http_route' || operation.method !== 'PATCH') return invocation;
      return { ...invocation, operation: { ...operation, method: 'POST' } };
    }),
  },
  {
    clause: 'request.path',
    defect: 'encodes the path a second time',
    reason: /%20/,
    adapter: changeTarget((target) => target.replaceAll('%', '%25')),
  },
  {
    clause: 'request.query',
    defect: 'keeps only the last query pair of a name',
    reason: /a/,
    adapter: changeTarget((target) => {
      const [path, query = ''] = target.split('?');
      return `${path}?${new URLSearchParams(Object.fromEntries(new URLSearchParams(query)))}`;
    }),
  },
  {
    clause: 'request.target',
    defect: 'rebuilds the target',
    reason: /echo/,
    adapter: changeTarget((target) => {
      const url = new URL(target, 'http://a');
      return `${url.pathname}${url.searchParams.size > 0 ? `?${url.searchParams}` : ''}`;
    }),
  },
  {
    clause: 'request.headers',
    defect: 'sends only some headers',
    reason: /must arrive unchanged/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      headers: { accept: 'application/json' },
    })),
  },
  {
    clause: 'request.header-injection',
    defect: 'sends line breaks in header values',
    reason: /injected/,
    adapter: changeRequest((invocation) => {
      const lines = Object.entries(invocation.headers).flatMap(([name, value]) =>
        `${name}: ${value}`.split(/[\r\n]+/),
      );
      const pairs = lines.map((line) => line.split(': ')).filter((pair) => pair.length === 2);
      return { ...invocation, headers: Object.fromEntries(pairs) };
    }),
  },
  {
    clause: 'request.body',
    defect: 'parses and rebuilds the body',
    reason: /must arrive unchanged/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'http_route' || operation.body === null) return invocation;
      const body = Buffer.from(JSON.stringify(JSON.parse(UTF8.decode(operation.body))));
      return { ...invocation, operation: { ...operation, body } };
    }),
  },
  {
    clause: 'request.no-body',
    defect: 'sends an empty object instead of no body',
    reason: /must arrive without a body/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'http_route') return invocation;
      return {
        ...invocation,
        operation: { ...operation, body: operation.body ?? Buffer.from('{}') },
      };
    }),
  },
];
